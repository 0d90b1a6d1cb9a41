import { digestOfText, newRequestId, newSessionId, PlacetError, Submission } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import {
  draftRequest,
  encodeRequest,
  isRepetition,
  parseFields,
  parseRequest,
  toRecord,
  untouchedFields,
} from './request-codec.ts';

const requestId = newRequestId('worker', 'acme');
const submission = Submission.parse({
  requestId,
  sessionId: newSessionId(),
  planFilePath: '/plans/a.md',
  planContent: 'plan',
});
const planDigest = digestOfText('plan');
const facts = {
  teammate: 'worker',
  owner: 'teammate:worker',
  planDigest,
  planBytes: 4,
  policyDigest: digestOfText('p'),
};

const spliced = (text: string, tail = ',"n":7,"at":1700000000000,"dl":1700000001000}') =>
  text.slice(0, -1) + tail;

describe('the stored form of a request', () => {
  it('[ST-2] begins with its version, and [ST-3] leaves out what is as usual', () => {
    const text = encodeRequest(draftRequest(submission, facts));
    expect(text).toMatch(/^\{"v":1,"d":"[\w-]{43}",/);
    expect(Object.keys(JSON.parse(text))).toEqual(['v', 'd', 's', 'p', 'c', 'q']);
  });

  it('[WR-27] becomes the record again', () => {
    const request = parseRequest(requestId, spliced(encodeRequest(draftRequest(submission, facts))));
    const parts = { team: 'acme', teammate: 'worker', requestId, request, decision: undefined };
    expect(toRecord({ ...parts, fields: parseFields(requestId, {}) })).toMatchObject({
      owner: 'teammate:worker',
      revision: 1,
      state: 'pending',
      prePlanMode: 'default',
      executionTarget: 'local',
      labels: {},
      plan: { digest: planDigest, path: '/plans/a.md', chars: 4, bytes: 4 },
      submittedAt: '2023-11-14T22:13:20.000Z',
      deadline: '2023-11-14T22:13:21.000Z',
      work: { state: 'none', epoch: 0 },
      votes: [],
      delivery: {},
    });
  });

  it('[WR-27] is answered to its submitter as everybody reads it later', () => {
    const full = Submission.parse({
      ...submission,
      revision: 3,
      supersedes: 'b',
      prePlanMode: 'auto',
      executionTarget: 'remote',
      summary: 'short',
      labels: { risk: 'high' },
      usage: { inputTokens: 1 },
      scope: { write: ['a'] },
      workspace: { cwd: '/w', head: 'a'.repeat(40), dirty: planDigest, task: planDigest, agent: 'codemod' },
    });
    for (const submitted of [submission, full]) {
      const draft = draftRequest(submitted, { ...facts, owner: 'local:ada', planBytes: 5 });
      const stored = parseRequest(requestId, spliced(encodeRequest(draft)));
      const name = { team: 'acme', teammate: 'worker', requestId, decision: undefined };
      const request = { ...draft, n: 7, at: 1_700_000_000_000, dl: 1_700_000_001_000 };
      expect(toRecord({ ...name, request, fields: untouchedFields })).toEqual(
        toRecord({ ...name, request: stored, fields: parseFields(requestId, {}) }),
      );
    }
  });

  it('[WR-23] tells a repetition from other content, by what was submitted and not by what was superseded', () => {
    const tail = ',"ps":"a","n":7,"at":1,"dl":2}';
    const request = parseRequest(requestId, spliced(encodeRequest(draftRequest(submission, facts)), tail));
    expect(isRepetition(request, submission, planDigest)).toBe(true);
    expect(isRepetition(request, { ...submission, supersedes: 'a' }, planDigest)).toBe(false);
  });

  it('[ST-2] of a later version is not guessed at; what is not of ours is a fault', () => {
    const codeOf = (text: string) => {
      try {
        parseRequest(requestId, text);
      } catch (error) {
        return error instanceof PlacetError ? error.code : error;
      }
      return undefined;
    };
    expect(codeOf('{"v":2}')).toBe('too_new');
    expect(codeOf('{"v":1}')).toBe('internal');
    expect(codeOf('no JSON')).toBe('internal');
  });
});
