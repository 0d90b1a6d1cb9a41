// Writes src/lua-bundle.ts: every script of this folder as a string, its `-- @include parts/NAME.lua` lines
// replaced by the text of that part (once a script, however often it is named).
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, '..', 'src', 'lua-bundle.ts');
const parts = new Set(luaFiles(join(here, 'parts')));

const entries = luaFiles(here).map((file) => {
  const source = expand(join(here, file), new Set());
  return `  '${basename(file, '.lua')}': ${JSON.stringify(source)},\n`;
});
const text = [
  '// biome-ignore-all format: generated\n',
  '// biome-ignore-all lint: generated\n',
  '// Generated from lua/ by lua/bundle.mjs; do not edit.\n',
  `export const luaSources = {\n${entries.join('')}} as const;\n`,
].join('');

if (readOrEmpty(target) !== text) writeFileSync(target, text);

function expand(path, seen) {
  return readFileSync(path, 'utf8').replaceAll(/^[ \t]*--[ \t]*@include\b[ \t]*(.*)$/gm, (_line, rest) => {
    const name = /^parts\/(\S+\.lua)[ \t]*\r?$/.exec(rest)?.[1];
    if (name === undefined) throw new Error(`${path}: write "-- @include parts/NAME.lua", not "${rest}"`);
    if (!parts.has(name)) throw new Error(`${path}: there is no part parts/${name}`);
    if (seen.has(name)) return '';
    seen.add(name);
    return expand(join(here, 'parts', name), seen).trimEnd();
  });
}

function luaFiles(folder) {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.lua'))
      .sort();
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function readOrEmpty(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}
