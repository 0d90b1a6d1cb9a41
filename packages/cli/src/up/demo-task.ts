/** The agent profile of demonstrations. */
export const demoAgent = 'codemod';
/** What the demonstration has done: something that reads well and is worth doing. */
export const demoTask = 'Import the modules of Node by their node: names';
/** Why the first plan of the story is sent back. */
export const demoFeedback = 'Leave the tests as they are.';
