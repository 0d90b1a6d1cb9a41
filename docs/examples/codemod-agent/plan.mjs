const fence = '```codemod-plan';
const shownEdits = 5;
const shownFiles = 200;

/** Writes a plan: Markdown for people, and at its end the block that the implementing run follows to the letter. */
export function writePlan({ task, transform, changes, left, said }) {
  const edits = changes.reduce((sum, change) => sum + change.edits.length, 0);
  const block = {
    version: 1,
    transform: transform.spec,
    changes: changes.map(({ path, before, after }) => ({ path, before, after })),
  };
  return `${[
    `# ${firstLine(task)}`,
    transform.says,
    changes.length > 0
      ? `${edits} ${edits === 1 ? 'edit' : 'edits'} in ${changes.length} ${changes.length === 1 ? 'file' : 'files'}. Nothing else is changed; a file that is another by then stops all of it.`
      : 'There is nothing to change.',
    ...(said.length > 0
      ? ['## What the reviewer said', said.map(({ line, effect }) => `- ${line} (${effect})`).join('\n')]
      : []),
    ...(left.length > 0 ? ['## Left as they are', left.map((path) => `- \`${path}\``).join('\n')] : []),
    ...(changes.length > 0 ? ['## Changes'] : []),
    ...changes.slice(0, shownFiles).map(fileSection),
    ...(changes.length > shownFiles ? [`… and ${changes.length - shownFiles} more files, named below.`] : []),
    '## For the machine',
    `${fence}\n${JSON.stringify(block)}\n\`\`\``,
  ].join('\n\n')}\n`;
}

/** Reads the block of a plan back. A reviewer may have taken files out of it. */
export function readPlan(text) {
  const start = text.lastIndexOf(`${fence}\n`);
  const end = text.indexOf('\n```', start + fence.length);
  if (start < 0 || end < 0) throw new Error('the plan has no block for the machine');
  const block = JSON.parse(text.slice(start + fence.length, end));
  const isChange = (change) =>
    [change?.path, change?.before, change?.after].every((field) => typeof field === 'string');
  if (
    block.version !== 1 ||
    typeof block.transform !== 'string' ||
    !Array.isArray(block.changes) ||
    !block.changes.every(isChange)
  )
    throw new Error('the block for the machine is not of this agent');
  return block;
}

function fileSection({ path, edits }) {
  const rows = edits
    .slice(0, shownEdits)
    .map(
      ({ line, before, after }) =>
        `- line ${line}: ${before ? `\`${shortened(before)}\` → ` : 'add '}\`${shortened(after)}\``,
    );
  const more = edits.length > shownEdits ? [`- … and ${edits.length - shownEdits} more`] : [];
  return [`### \`${path}\``, [...rows, ...more].join('\n')].join('\n\n');
}

function shortened(text) {
  const line = text.replace(/\s+/g, ' ').replaceAll('`', "'");
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}

function firstLine(task) {
  return task.trim().split('\n')[0].slice(0, 100) || 'Codemod';
}
