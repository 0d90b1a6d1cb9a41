/** The agent profile of demonstrations. */
export const demoAgent = 'codemod';
/** What a demonstration has done: something that reads well and is worth doing. */
export const demoTask = 'Add an SPDX licence header to every source file';
/** Why the first plan of the story is sent back. */
export const demoFeedback = 'Leave the tests as they are.';
