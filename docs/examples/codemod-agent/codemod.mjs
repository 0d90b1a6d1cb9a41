#!/usr/bin/env node
// A command agent for Placet: plans by listing what it would change, and implements exactly that. Plain Node, no packages.
import { main } from './agent.mjs';

process.exitCode = await main(process.env, process.cwd());
