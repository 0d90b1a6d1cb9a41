import { leadInboxName, PlacetError, type Role, type RouteName, type TokenClaims } from '@placet/protocol';

/** Who may call a route (2.4, IN-20). */
export type Access =
  /** Anyone, without a token. */
  | { readonly open: true }
  /** Anyone where the setting `metricsPublic` is on, else these roles. */
  | { readonly open: 'metricsPublic'; readonly roles: readonly Role[] }
  /**
   * Principals of the team in these roles. `own` narrows teammates: `request` to the requests they made (others do
   * not exist for them), `inbox` narrows everybody to the inbox that is theirs.
   */
  | {
      readonly open?: never;
      readonly roles: readonly Role[];
      readonly own?: 'request' | 'inbox';
      /** Only people, where it says so: no token of the kind `agent`, whatever its role. */
      readonly kind?: 'person';
    };

const readers = ['lead', 'observer'] as const;
const requestReaders = ['lead', 'observer', 'teammate'] as const;

/** The one table of who may call what (IN-20): a route without a row does not compile. */
export const accessTable = {
  submitRequest: { roles: ['teammate'] },
  listRequests: { roles: readers },
  showRequest: { roles: requestReaders, own: 'request' },
  readPlan: { roles: requestReaders, own: 'request' },
  awaitDecision: { roles: requestReaders, own: 'request' },
  decideRequest: { roles: ['lead'] },
  withdrawRequest: { roles: ['teammate'], own: 'request' },
  readInbox: { roles: ['teammate', 'lead'], own: 'inbox' },
  acknowledge: { roles: ['teammate', 'lead'], own: 'inbox' },
  sendMessage: { roles: ['teammate', 'lead'] },
  listQuestions: { roles: ['lead'] },
  answerQuestion: { roles: ['lead'] },
  showPosture: { roles: ['lead'] },
  enterPlanMode: { roles: ['lead'] },
  exitPlanMode: { roles: ['lead'], kind: 'person' },
  followEvents: { roles: readers },
  claimWork: { roles: ['teammate'], own: 'request' },
  sendReceipt: { roles: ['teammate'], own: 'request' },
  settleWork: { roles: ['teammate'], own: 'request' },
  reportPresence: { roles: ['teammate'] },
  listPresence: { roles: readers },
  jwks: { open: true },
  healthz: { open: true },
  readyz: { open: true },
  metrics: { open: 'metricsPublic', roles: ['operator', 'lead', 'observer'] },
} as const satisfies Record<RouteName, Access>;

/** Whether a route answers without a token. */
export function isOpen(access: Access, metricsPublic: boolean): boolean {
  return access.open === true || (access.open === 'metricsPublic' && metricsPublic);
}

/**
 * Holds a principal against a row of the table. Whose a request is, only its record tells: `own: 'request'` is held
 * by the routes when they have read it.
 * @throws PlacetError `not_found` for another team, so that its existence is not told; `forbidden` for a role, or an
 * inbox, that is not the principal's.
 */
export function checkAccess(
  access: Access,
  principal: TokenClaims,
  params: { team?: string; agent?: string },
): void {
  if (params.team !== undefined && !principal.teams.includes(params.team))
    throw new PlacetError('not_found', `there is no team "${params.team}" for ${principal.sub}`);
  if (access.open === true) return;
  if (!access.roles.includes(principal.role))
    throw new PlacetError('forbidden', `the role ${principal.role} may not do this`);
  if (access.open === undefined && access.kind !== undefined && principal.kind !== access.kind)
    throw new PlacetError('forbidden', `only a ${access.kind} may do this, not an ${principal.kind}`);
  if (access.open === undefined && access.own === 'inbox' && params.agent !== inboxOf(principal))
    throw new PlacetError('forbidden', 'an inbox is read by its owner only');
}

/** The inbox that is a principal's own; undefined for roles that have none. */
export function inboxOf(principal: TokenClaims): string | undefined {
  if (principal.role === 'lead') return leadInboxName;
  return principal.role === 'teammate' ? principal.teammate : undefined;
}
