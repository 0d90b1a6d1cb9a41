import { readdirSync } from 'node:fs';
import * as planMode from '@placet/plan-mode';
import { expect, it } from 'vitest';
import { inRepository, textOf } from '../support/repository.ts';

const page = textOf('packages/plan-mode/README.md');

it('the page of plan mode has each room, with exports that there are', () => {
  const rows = [...page.matchAll(/^\| `([a-z]+)` \|.*\| ([^|]+) \|$/gm)];
  const rooms = readdirSync(inRepository('packages/plan-mode/src'), { withFileTypes: true });
  expect(new Set(rows.map(([, room]) => room))).toEqual(
    new Set(rooms.flatMap((room) => (room.isDirectory() ? [room.name] : []))),
  );
  for (const [, room, names = ''] of rows)
    for (const [, name] of names.matchAll(/`(\w+)`/g)) expect(Object.keys(planMode), room).toContain(name);
});

it('the page of plan mode shows lines of the example that runs', () => {
  const shown = /```ts\n([^`]+)```/.exec(page)?.[1]?.trim().split('\n') ?? [];
  const example = textOf('docs/examples/agent-loop.ts')
    .split('\n')
    .map((line) => line.trim());
  expect(shown.length).toBe(10);
  expect(example).toEqual(expect.arrayContaining(shown.map((line) => line.trim())));
});

it('the page of plan mode draws its states once', () => {
  expect(page.match(/```mermaid/g)).toHaveLength(1);
});
