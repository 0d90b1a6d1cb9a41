import type { Context } from '../command.ts';
import { tolerableSkewMs } from './check-redis.ts';
import { examine, type Finding, ok, wrong } from './finding.ts';

/** Checks the lead service: that it answers, can do its work and lets us in, its clock, and who is at work. */
export function checkService({ connect, team }: Context): Promise<Finding[]> {
  return examine('service', 'start it with placet up, or check --url and --token', async () => {
    const { client, service } = await connect({ role: 'lead', team });
    const { status, body } = await client.call('readyz', {});
    const ready =
      status === 200
        ? ok('service', `${service.url} is ready`)
        : wrong(
            'unreachable',
            'service',
            `${service.url} answers, but is not ready: ${JSON.stringify(body)}`,
            'its log says what it waits for',
          );
    return [ready, await clock(service.url), ...(await teammates(client, team))];
  });
}

async function clock(url: string): Promise<Finding> {
  const response = await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(5000) });
  await response.arrayBuffer();
  const date = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(date)) return ok('clock of the service', 'it does not say');
  // The header has seconds, so that half a second is its own.
  const skewMs = date + 500 - Date.now();
  if (Math.abs(skewMs) <= tolerableSkewMs)
    return ok('clock of the service', "is this machine's, within a second");
  return wrong(
    'warning',
    'clock of the service',
    `is ${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs < 0 ? 'behind' : 'ahead'}`,
    'synchronise both by NTP, or tokens are refused',
  );
}

async function teammates(client: Awaited<ReturnType<Context['asLead']>>, team: string): Promise<Finding[]> {
  const { body } = await client.call('listPresence', { params: { team } });
  if (body.teammates.length === 0)
    return [
      wrong(
        'warning',
        'teammates',
        `none was ever seen in team ${team}`,
        'start one with placet teammate, or placet up without --no-teammate',
      ),
    ];
  return body.teammates.map(({ teammate, lastSeen, alive }) =>
    alive
      ? ok(`teammate ${teammate}`, `alive, last seen ${lastSeen}`)
      : wrong(
          'warning',
          `teammate ${teammate}`,
          `lost, last seen ${lastSeen}`,
          `start it again; its sessions wait for it: placet teammate --name ${teammate}`,
        ),
  );
}
