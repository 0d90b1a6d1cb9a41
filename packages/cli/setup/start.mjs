// `npm start`: from a fresh clone to a running Placet with a first plan waiting.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare, root } from './install.mjs';

await prepare();

// The program takes over this process rather than being its child: signals, terminal and exit code are its own.
const program = join(root, 'packages', 'cli', 'dist', 'bin.js');
process.argv = [process.execPath, program, 'up', '--demo', ...process.argv.slice(2)];
await import(pathToFileURL(program).href);
