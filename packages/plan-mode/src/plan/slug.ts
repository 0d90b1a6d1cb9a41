import { digestOfText, type SessionId } from '@placet/protocol';

// Sixty-four of each: three words say eighteen bits, enough to tell plans apart by eye. What must be unique adds more.
const adjectives =
  'amber ample basic blue bold brave brief bright broad calm civil clean clear close cool deep early even fair fast final firm first free fresh full glad gold good grand great green high ideal keen kind large light long loud lucky main merry mild neat new noble open plain prime quick quiet rapid ready right round safe sharp solid sound swift true warm wide'.split(
    ' ',
  );
const colours =
  'apple azure beech birch brass brick bronze cedar chalk cherry clay cloud cobalt copper coral cream denim dusk ebony elm fern flax flint frost ginger granite hazel heather honey indigo iron ivory jade jet lemon lilac lime linen maple marble mauve mint moss navy oak ochre olive onyx opal paper pearl pine plum quartz rose ruby rust sand silver slate straw teal walnut willow'.split(
    ' ',
  );
const things =
  'anchor arch badge barn basin beacon bell bench boat bridge brook cabin canal candle castle chart compass creek desk dock door field forge fort garden gate grove harbor hill hinge house island kettle ladder lake lamp lantern ledger lock market meadow mill mirror orchard path pier pilot plaza pond port quill rail river road sail shelf shore signal spire stone tower trail valley well'.split(
    ' ',
  );

/**
 * The slug of a session (PM-40): three words, the same on every host, that say nothing of what the session is about.
 * Two sessions can have the same one: `attempt` 1 and on are the next choices where a name is taken.
 */
export function slugOf(sessionId: SessionId, attempt = 0): string {
  const digits = digestOfText(`placet-slug ${sessionId} ${attempt}`).slice('sha256:'.length);
  return [adjectives, colours, things]
    .map((words, at) => words[Number.parseInt(digits.slice(at * 4, at * 4 + 4), 16) % words.length])
    .join('-');
}

/**
 * The name of a plan's file (PM-40): `<slug>.md` for the main thread, `<slug>-agent-<agentId>.md` for an agent of it.
 * An agent's ID that cannot stand in a file's name, or that a file system which ignores case would take for another's,
 * is replaced by a digest of it.
 */
export function planFileName(slug: string, agentId?: string): string {
  if (agentId === undefined) return `${slug}.md`;
  // One that looks like a digest is digested too: it could be another agent's.
  const isPlain = /^[a-z0-9_-]{1,64}$/.test(agentId) && !/^[0-9a-f]{32}$/.test(agentId);
  return `${slug}-agent-${isPlain ? agentId : digestOfAgent(agentId)}.md`;
}

/** JSON tells lone surrogates apart, which UTF-8 does not. */
function digestOfAgent(agentId: string): string {
  return digestOfText(JSON.stringify(agentId)).slice('sha256:'.length, 'sha256:'.length + 32);
}
