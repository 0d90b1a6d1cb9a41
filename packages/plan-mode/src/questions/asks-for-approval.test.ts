import { Question } from '@placet/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asksForApproval } from './asks-for-approval.ts';

const asked = (question: string, from: { header?: string; labels?: string[]; multiSelect?: boolean } = {}) =>
  asksForApproval(
    Question.parse({
      question,
      header: from.header ?? 'Next',
      options: (from.labels ?? ['First', 'Second']).map((label) => ({ label })),
      multiSelect: from.multiSelect ?? false,
    }),
  );

describe('asking for approval', () => {
  it.each([
    'Do you approve this plan?',
    'Would you please sign off on the proposed plan?',
    'Do you agree with the implementation plan, or should I change it?',
    'Are you happy with the plan?',
    'Are you okay with this plan?',
    'Approve plan?',
    'Please confirm the plan.',
    'Is the plan OK?',
    'Is this plan acceptable to you?',
    'Is the plan ready to be implemented?',
    'Does the plan look good?',
    'I wrote the plan to plan.md. Does it look good to you, and does the plan make sense?',
    'How does the plan look?',
    'What do you think of the plan?',
    'Any feedback on the plan?',
    'Do you have any concerns about the revised plan?',
    'Any changes to the plan before I begin?',
    'Would you like to change anything in the plan?',
    'Plan OK?',
    'Are we good to go?',
    'Shall I proceed?',
    'Should I proceed with the implementation?',
    'Should I proceed with the plan or would you like changes?',
    'Would you like me to go ahead with this plan?',
    'Can I start implementing now?',
    'Is that fine, and may I go ahead?',
    'Ready to implement?',
    'Ready for me to start coding?',
    'Should we continue?',
    'Do I have your approval to begin?',
    'May I exit plan mode?',
    'Should I leave planning mode now?',
    'DO YOU APPROVE THE PLAN',
    'Do you ap\u200bprove the “plan”?',
    'Ｓｈａｌｌ　Ｉ　ｐｒｏｃｅｅｄ？',
    'Ist der Plan in Ordnung?',
    'Stimmst du dem Plan zu?',
    'Soll ich anfangen?',
    'Approuvez-vous ce plan ?',
    'Puis-je commencer ?',
    '¿Apruebas el plan?',
    '¿Puedo empezar?',
    '这个计划可以吗？',
    '是否批准该计划？',
    '我可以开始实施吗？',
    'この計画でよろしいですか？',
    '計画を承認していただけますか？',
  ])('[PM-63] is seen in %j', (question) => {
    expect(asked(question)).toBe(true);
  });

  it.each([
    ['What next?', { labels: ['Approve the plan', 'Keep planning'] }],
    ['What next?', { labels: ['Yes, start implementing', 'More research'] }],
    ['What next?', { labels: ['Exit plan mode', 'Look at the tests too'] }],
    ['Does this look right?', { header: 'Plan review' }],
    ['The plan has three steps. Your verdict?', { labels: ['Approve', 'Reject'] }],
    ['Your verdict?', { header: 'Approval', labels: ['Looks good', 'Needs work'] }],
  ])('[PM-63] is seen in %j with %j', (question, from) => {
    expect(asked(question, from)).toBe(true);
  });

  it.each([
    'Should approval emails be sent?',
    'Which plan should new users get by default?',
    'Which approach do you prefer?',
    'Who may approve the plan: any lead, or owners alone?',
    'Should a second lead have to approve the plan?',
    'Do you want approvals to expire?',
    'Do you want two reviewers to approve the plan?',
    'When the plan is approved, should a branch be created?',
    'What should happen when nobody approves the plan in time?',
    'Should the plan approval screen show a diff?',
    'Is the plan table right for the index?',
    'Should the plan file be kept after the merge?',
    'Should we implement the plan limits per user or per team?',
    'Does the free plan include exports?',
    'What does the plan cost per seat?',
    'Is the query plan good enough for ten million rows, or shall we add an index?',
    'Should we go ahead with Postgres or MySQL?',
    'Should we move forward with option A or B?',
    'Should I start with the API or the UI?',
    'Should we start now or after the release?',
    'Should I implement it in Rust or in Go?',
    'Should I implement this as a plugin?',
    'Should we build or buy?',
    'Should uploads continue when the network is back?',
    'May users begin a trial without a card?',
    'Can we continue to support Node 18?',
    'Should the migration proceed when a row is invalid?',
    'Should the CLI exit plan mode on Ctrl-C?',
    'Should agents be able to leave plan mode by themselves?',
    'Do you accept the trade-off of a slower build?',
    'Do you agree with snake_case for columns?',
    'Does the button look good in green?',
    'Is it ok to drop support for Safari 14?',
    'Can I use a new dependency for parsing HTML?',
    'Should I delete the old table?',
    'Wie soll der Plan gespeichert werden?',
    'Soll ich mit der API oder der Oberfläche anfangen?',
    '用户的套餐计划应该如何定价？',
    '¿Qué plan deben tener los usuarios nuevos?',
  ])('[PM-63] is not seen in %j', (question) => {
    expect(asked(question)).toBe(false);
  });

  it.each([
    ['Which plan is the default?', { header: 'Plan', labels: ['Free', 'Pro'] }],
    ['Which actions does the menu offer?', { labels: ['Approve the plan', 'Reject it'], multiSelect: true }],
    ['Delete 400 stale branches?', { header: 'Branches', labels: ['Yes, proceed', 'No'] }],
    ['When does the clock start?', { labels: ['When they approve the plan', 'When the work begins'] }],
    ['What does the button say?', { header: 'Label', labels: ['Approve', 'Accept'] }],
    ['Does this look right?', { header: 'Layout' }],
  ])('[PM-63] is not seen in %j with %j', (question, from) => {
    expect(asked(question, from)).toBe(false);
  });

  it('[PM-63] is judged in no time, whatever the question', () => {
    const words = fc.constantFrom(
      'the',
      'this',
      'new',
      'final',
      'plan',
      'shall',
      'i',
      'you',
      'do',
      'approve',
      'begin',
      'with',
    );
    const text = fc.array(words, { minLength: 1, maxLength: 400 }).map((all) => all.join(' ').slice(0, 2000));
    const took = (question: string) => {
      const began = performance.now();
      asked(question);
      return performance.now() - began;
    };
    fc.assert(
      fc.property(text, (question) => {
        expect(took(question)).toBeLessThan(1000);
      }),
      { numRuns: 200 },
    );
    for (const unit of [
      'a',
      ' ',
      'the new ',
      'shall i ',
      'is the plan ',
      'any changes to the plan ',
      'would you like make ',
    ])
      expect(took(unit.repeat(2000).slice(0, 2000).replace(/^ /, 'a'))).toBeLessThan(1000);
  });
});
