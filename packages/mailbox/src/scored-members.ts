/** A member of a sorted set with its score. */
export interface ScoredMember {
  member: string;
  score: number;
}

/** What Redis answers `WITHSCORES`: member and score in turn. */
export function scoredMembers(reply: unknown): ScoredMember[] {
  const flat = Array.isArray(reply) ? reply.map(String) : [];
  return flat.flatMap((member, place) =>
    place % 2 === 0 ? [{ member, score: Number(flat[place + 1]) }] : [],
  );
}
