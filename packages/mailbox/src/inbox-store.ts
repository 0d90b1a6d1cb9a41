import {
  type AgentName,
  type Digest,
  type Envelope,
  type Message,
  type PermissionMode,
  PlacetError,
  type RequestId,
  type RequestRecord,
  type RequestWithPlan,
  type TeammateName,
  type TeamName,
} from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import type { TakenEntry } from './mailbox-port.ts';
import type { Teams } from './teams.ts';

/** What the inboxes read requests with, to make whole messages of references (WR-14). */
export interface InboxRequests {
  get(team: TeamName, requestId: RequestId): Promise<RequestRecord | undefined>;
  getWithPlan(team: TeamName, requestId: RequestId): Promise<RequestWithPlan | undefined>;
  planBytes(team: TeamName, digest: Digest): Promise<Uint8Array | undefined>;
}

/** What the inboxes are made of. */
export interface InboxOptions {
  handle: RedisHandle;
  teams: Teams;
  requests: InboxRequests;
  /** How long a taken entry is out before it is offered again; 60,000 unless set (TM-41). */
  visibilityMs?: number | undefined;
}

/** A message on its way. */
export interface Sending {
  from: AgentName;
  to: AgentName;
  message: Message;
  /** Makes a repetition harmless for a day (TM-45). */
  operationId?: string | undefined;
}

/** An entry that could not be delivered (TM-41). */
export interface DeadLetter {
  entry: Envelope;
  deliveries: number;
}

/** The inboxes of the lead and of every teammate (4.4). */
export class InboxStore {
  constructor(_options: InboxOptions) {}

  /** What is not acknowledged, in order, at most `limit`, after the entry id `after`; reading changes nothing. */
  read(
    _team: TeamName,
    _agent: AgentName,
    _page: { after?: string | undefined; limit: number },
  ): Promise<Envelope[]> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** Takes a teammate's entries that are due; each is then out for the visibility time (TM-41). */
  take(_team: TeamName, _teammate: TeammateName, _limit: number): Promise<TakenEntry[]> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** Removes entries. Plan requests in the lead's inbox stay (WR-26). @returns how many were removed */
  acknowledge(_team: TeamName, _agent: AgentName, _ids: readonly string[]): Promise<number> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** @throws PlacetError `validation_failed` for a reserved type, or a known type of another shape */
  send(_team: TeamName, _sending: Sending): Promise<{ id: string }> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** What could not be delivered to a teammate, oldest first, at most 1,000. */
  deadLetters(_team: TeamName, _teammate: TeammateName): Promise<DeadLetter[]> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** The mode of the lead's last `mode_changed` (TM-30). */
  leadMode(_team: TeamName): Promise<PermissionMode | undefined> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }
}
