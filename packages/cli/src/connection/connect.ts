import { PlacetError } from '@placet/protocol';
import { PlacetClient } from '@placet/protocol/client';
import type { Settings } from '../settings/load-settings.ts';
import type { World } from '../world.ts';
import { discoverService, type Service } from './discover.ts';
import { type Actor, mintLocalToken } from './local-tokens.ts';

/** A client of the service that was found, acting as someone. */
export interface Connection {
  client: PlacetClient;
  service: Service;
}

/**
 * Finds the service and the right to speak to it: the token that is given, else, on the machine of `placet up`, one
 * made on the spot. Cheap: call it again after a failure, as a service that was started again may be elsewhere.
 * @throws PlacetError `service_unreachable` when nothing runs, `unauthenticated` when there is no token.
 */
export async function connect(world: World, settings: Settings, actor: Actor): Promise<Connection> {
  const service = await discoverService(world, settings);
  const token = settings.config.token ?? (await localToken(world, service, actor));
  return { client: new PlacetClient({ url: service.url, token }), service };
}

async function localToken(world: World, service: Service, actor: Actor): Promise<string> {
  if (!service.local)
    throw new PlacetError(
      'unauthenticated',
      `${service.url} is not of this machine's placet up: give --token or PLACET_TOKEN`,
    );
  return mintLocalToken(service.local.dataDir, actor, world.user);
}
