import type { Question } from '@placet/protocol';
import { approvalWords, foreignApprovals } from './approval-words.ts';

const oneOf = (words: readonly string[]) => `(?:${words.join('|')})`;
const {
  ownPlanWords,
  notThePlanWords,
  approveWords,
  contentWords,
  goodWords,
  remarkWords,
  beginWords,
  workWords,
  endWords,
  leaveWords,
} = approvalWords;

const article = '(?:the|this|that|my|our|your)';
const plan = `(?:${article} (?:${oneOf(ownPlanWords)} ){0,3}(?:plan|proposal)(?! ${oneOf(notThePlanWords)}\\b)\\b)`;
const it = '(?:it|this|that|everything)';
const end = `(?=$| ${oneOf(endWords)}$)`;
const looks = '(?:look|sound|seem|feel|appear)s?';
const good = `(?:(?:all|now|so far) )?${oneOf(goodWords)}`;
const mayI = `(?:\\b(?:shall|should|can|may|could|might) (?:i|we)|\\b(?:want|like|good|ok|okay|fine|ready|cleared|free|allowed)(?: for)?(?: me| us)? to|^(?:yes )?)`;

/** Whole sentences, each of which asks for approval by itself. */
const sentences = [
  // the person approves the plan
  `\\b(?:do|would|will|can|could|did) you (?:(?:now|please|want to|like to|wish to) )*${oneOf(approveWords)} ${plan}`,
  `\\b(?:do|can|may) (?:i|we) (?:have|get) your (?:approval|ok|okay|permission|consent|go-?ahead|sign-?off)`,
  `\\bare you ${oneOf(contentWords)} (?:with |about )?${plan}`,
  `(?:^|\\bplease )(?:(?:yes|review and) )?${oneOf(approveWords)} (?:plan$|${plan}${end})`,
  // the plan is good
  `\\b(?:is|are) ${plan} ${good}${end}`,
  `\\b(?:is|are) ${plan} ready (?:to|for) (?:go|be (?:implemented|executed)|implement|execut|implementation|execution)`,
  `\\b(?:does|do) ${plan} (?:${looks} ${good}|make sense|work for you|suit you|(?:meet|match) your|cover everything|miss anything|need (?:any )?changes)${end}`,
  `\\bhow (?:does|do) ${plan} ${looks}`,
  `^plan (?:${looks} )?${oneOf(goodWords)}$|^plan approval$`,
  `\\b(?:is|are) (?:${it}|we|you) (?:all )?(?:good to go|ready to (?:go|implement|begin|start implementing))${end}`,
  // the person has something to say of it
  `\\bwhat (?:do|did) you think (?:of|about) ${plan}`,
  `\\b(?:any|what|your|further|have) (?:\\w+ )?${oneOf(remarkWords)} (?:on|about|with|to|regarding|for|in|you have on) ${plan}${end}`,
  `\\bwould you like (?:me )?(?:to )?(?:make |any |change |adjust |revise |modify )*(?:${oneOf(remarkWords)}|anything)? ?(?:to|in|about)? ?${plan}${end}`,
  // the asker begins
  `${mayI}(?: (?:now|just|already|then))? ?${oneOf(beginWords)}(?: (?:with|on|to|and))?(?: ${oneOf(workWords)})?${end}`,
  `${mayI}(?: (?:now|just|already|then))? ?${oneOf(beginWords)}(?: (?:with|on|to|implementing|executing))* ${plan}`,
  // the asker leaves plan mode
  `${mayI}(?: now)? ?${oneOf(leaveWords)} plan(?:ning)?(?: mode|$)`,
].map((source) => new RegExp(source));

const ownPlan = new RegExp(`\\b${plan}`);
const judgesIt = new RegExp(`^(?:(?:does|is) )?${it} (?:${looks} )?${good}${end}`);
const namesThePlan = /\b(?:plan|approval)\b/;
const speaksOfPlan = /plan|计划|方案|計画|プラン/;
const approves = new RegExp(
  `^(?:yes )?(?:i )?(?:(?:${oneOf(approveWords)}|approved|lgtm|go ahead|proceed)(?: (?:it|plan))?|looks good(?: to me)?)$`,
);
const begins = new RegExp(
  `^(?:yes )?(?:start|begin) ${oneOf(['implementing', 'coding', '(?:the )?implementation'])}(?: now)?$`,
);

/**
 * Whether a question asks for approval of the plan, or to begin, instead of for a decision that the plan needs (PM-63).
 * Deterministic: sentences made of {@link approvalWords}, in the question or, where one option is to be chosen, in the
 * labels. Approval as a subject matter is no approval: "Should approval emails be sent?" is a question like any other.
 */
export function asksForApproval(asked: Question): boolean {
  const spoken = sentencesOf(asked.question);
  if (spoken.some(isApproval)) return true;
  const aboutPlan =
    spoken.some((sentence) => ownPlan.test(sentence)) || namesThePlan.test(foldWords(asked.header));
  if (aboutPlan && spoken.some((sentence) => judgesIt.test(sentence))) return true;
  if (asked.multiSelect) return false;
  return asked.options.some(({ label }) => {
    const [words = '', ...more] = sentencesOf(label);
    if (more.length > 0) return false;
    return (
      begins.test(words) ||
      (speaksOfPlan.test(words) && isApproval(words)) ||
      (aboutPlan && approves.test(words))
    );
  });
}

function isApproval(sentence: string): boolean {
  return (
    sentences.some((form) => form.test(sentence)) || foreignApprovals.some((form) => form.test(sentence))
  );
}

function sentencesOf(text: string): string[] {
  return foldWords(text)
    .split(/[.?!;:。…—\n]+|\s-\s/)
    .map((sentence) => sentence.trim())
    .filter(Boolean);
}

/** Makes texts comparable that read the same: without case, commas, quotes, markup and invisible characters. */
function foldWords(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[‘’]/g, "'")
    .replace(/[,、"“”«»¿*_`()[\]\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[^\S\n]+/g, ' ');
}
