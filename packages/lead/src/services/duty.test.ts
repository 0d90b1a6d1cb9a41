import { PlacetError } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { createLog } from '../log.ts';
import { LeadMetrics } from '../metrics.ts';
import { DutyRunner } from './duty.ts';

describe('a background duty', () => {
  it('[ST-7] works for the teams whose lease it gets, under its epoch, and for no other', async () => {
    const world = trial({
      lease: async (team) => (team === 'mine' ? 7 : undefined),
      teams: async () => ['mine', 'theirs'],
    });
    await world.turns(3);
    await world.runner.close();
    expect(new Set(world.runs)).toEqual(new Set(['mine 7']));
    expect(world.released).toEqual(['mine']);
  });

  it('[ST-7] asks for the lease before each piece, and stops at the piece when it is lost', async () => {
    let leases = 0;
    const world = trial({
      lease: async () => (++leases <= 3 ? 1 : undefined),
      run: async () => true,
    });
    await world.turns(2);
    await world.runner.close();
    expect(world.runs).toHaveLength(3);
    expect(world.released).toEqual([]);
  });

  it('gives other teams their turn after a bounded number of pieces', async () => {
    const world = trial({ teams: async () => ['busy', 'other'], run: async (team) => team === 'busy' });
    await world.until(() => world.runs.includes('other 1'));
    await world.runner.close();
    expect(world.runs.indexOf('other 1')).toBe(20);
  });

  it('[OP-6] waits for a store that is away, says so once, and goes on when it is back', async () => {
    let away = true;
    const world = trial({
      teams: async () => {
        if (away) throw new PlacetError('store_unavailable', 'away');
        return ['main'];
      },
    });
    await world.turns(4);
    away = false;
    await world.until(() => world.runs.length > 0);
    await world.runner.close();
    const said = world.logged.filter((line) => /the store is (away|back)/.test(line));
    expect(said).toHaveLength(2);
  });

  it('[I8] a duty that fails is logged and counted, and tried again', async () => {
    let failures = 0;
    const world = trial({
      run: async () => {
        if (++failures === 1) throw new TypeError('broken');
        return false;
      },
    });
    await world.until(() => failures > 1);
    await world.runner.close();
    expect(world.logged.join('')).toContain('a duty failed');
    expect(await world.metrics.registry.metrics()).toContain(
      'placet_duty_runs_total{duty="test",result="failed"} 1',
    );
  });

  it('closing ends it after the piece at hand, whatever was left', async () => {
    const world = trial({ run: async () => true });
    await world.until(() => world.runs.length > 0);
    await world.runner.close();
    const done = world.runs.length;
    await world.runner.close();
    expect(world.runs).toHaveLength(done);
  });
});

interface Given {
  teams?: () => Promise<string[]>;
  lease?: (team: string) => Promise<number | undefined>;
  run?: (team: string) => Promise<boolean>;
}

function trial({ teams = async () => ['main'], lease = async () => 1, run = async () => false }: Given) {
  const [runs, released, logged]: [string[], string[], string[]] = [[], [], []];
  const metrics = new LeadMetrics();
  const log = createLog({ level: 'info', destination: { write: (line) => void logged.push(line) } });
  let turns = 0;
  const runner = new DutyRunner(
    {
      name: 'test',
      everyMs: 1,
      run: async (team, epoch) => {
        runs.push(`${team} ${epoch}`);
        return run(team);
      },
    },
    {
      teams: async () => {
        turns += 1;
        return teams();
      },
      lease,
      release: async (team) => {
        released.push(team);
      },
      log,
      metrics,
    },
  );
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    runner,
    runs,
    released,
    logged,
    metrics,
    until,
    turns: (count: number) => until(() => turns > count),
  };
}
