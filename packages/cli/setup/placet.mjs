#!/usr/bin/env node
// The `placet` command. A file of its own, because npm links a command at install time only if its file is there,
// and `dist` is built after the install.
import { existsSync } from 'node:fs';

const program = new URL('../dist/bin.js', import.meta.url);

if (existsSync(program)) {
  await import(program.href);
} else {
  console.error('placet: not built yet. Run `npm run build` first.');
  process.exitCode = 1;
}
