/** The agent profile of demonstrations. */
export const demoAgent = 'codemod';
/** What a demonstration has done: something that is worth doing, and whose plan can be read. */
export function demoTask(sources: string): string {
  return `Add an SPDX licence header to each source file in ${sources}`;
}
/** Why the first plan of the story is sent back. */
export const demoFeedback = 'Leave the tests as they are.';
