const list = (words: string): readonly string[] => words.split(', ');

/**
 * The words by which a question is known to ask for approval of the plan (PM-63). No word does it alone: what sentences
 * they must make is in {@link asksForApproval}. Texts are compared without case, commas, quotes and invisible
 * characters. `*Words` are alternatives; a `|` or `?` in them is a regular expression's.
 *
 * English is known well. Of German, French, Spanish, Chinese and Japanese only the plainest sentences are, of other
 * languages none. That will do, because nothing rests on it: the check saves a detour, and no answer to a question, in
 * whatever words, ever approves a plan.
 */
export const approvalWords = {
  /** Before `plan` or `proposal`, after an article: still a plan of the asker's own. `pricing`, `query`, `free` are not. */
  ownPlanWords: list(
    'above, attached, complete, current, detailed, draft, entire, final, following, full, ' +
      'implementation, migration, new, overall, proposed, refactoring, revised, rollout, suggested, ' +
      'updated, whole, written',
  ),
  /** After `plan`: something else is meant, such as the screen that shows one. */
  notThePlanWords: list(
    'approvals?, details, digests?, fields?, files?, ids?, limits?, mode, names?, objects?, pages?, ' +
      'records?, requests?, reviews?, reviewers?, screens?, status, tables?, texts?, tiers?, types?',
  ),
  /** What the person would do: `Do you … the plan?` */
  approveWords: list(
    'accept, agree (?:with|to|on), approve(?: of)?, authori[sz]e, confirm, endorse, green-?light, ok, ' +
      'okay, ratify, sign off(?: on)?, like',
  ),
  /** What the person would be: `Are you … the plan?` */
  contentWords: list(
    'comfortable, content, fine, good, happy, ok, okay, on board, satisfied, in agreement, ' +
      'ready to (?:approve|accept|confirm)',
  ),
  /** What the plan would be: `Is the plan …?`, `Does the plan look …?` */
  goodWords: list(
    'acceptable, all right, alright, approved, complete, correct, fine, good, good to go, ok, okay, ' +
      'ready, reasonable, right, sensible, sound, to your liking',
  ),
  /** What the person might say of it: `Any … on the plan?` */
  remarkWords: list(
    'adjustments, changes, comments, concerns, feedback, modifications, objections, opinion, remarks, ' +
      'thoughts, tweaks',
  ),
  /** What the asker would do next: `Shall I …?` */
  beginWords: list(
    'begin, build, carry on, code, continue, execute, get going, get started, go ahead, go forward, ' +
      'implement, move ahead, move forward, proceed, start',
  ),
  /** With what, where it is no more than the work as such: `Shall I begin …?` */
  workWords: list(
    '(?:the )?(?:implementation|execution|coding|work|changes|development), implementing, building, ' +
      'coding, executing, working, writing (?:the )?code, (?:making )?(?:the|these|those) changes, it, ' +
      'this, that, implement(?: it| this)?',
  ),
  /** What adds nothing to a sentence that has ended. */
  endWords: list(
    'now, then, please, immediately, right away, as (?:is|planned|proposed|described|outlined|written), ' +
      'first, yet, (?:to|for|with|by) you, before (?:i|we) .*, so (?:i|we|that) .*, and .*, ' +
      'or (?:do|does|would|should|shall|is|are|not|wait|stop|hold|revise|adjust|change|keep planning|edit)\\b.*',
  ),
  /** Ways out of plan mode. */
  leaveWords: list('end, exit, finish, get out of, leave, quit, stop, switch out of'),
} as const;

/** The plainest sentences of other languages. */
export const foreignApprovals: readonly RegExp[] = [
  // German
  /^(?:ist|passt|gefällt|stimmst|stimmen|bist|sind|genehmigst|genehmigen|akzeptierst|akzeptieren) (?:(?:du|sie|dir|ihnen|mit) )*(?:der|dem|den|dieser|diesem|diesen|mein|meinem|meinen) plan(?: (?:so|zu|ok|okay|gut|in ordnung|einverstanden))*$/,
  /^(?:soll|darf|kann) ich (?:jetzt )?(?:loslegen|anfangen|beginnen|fortfahren|mit der umsetzung beginnen|den plan umsetzen)$/,
  // French
  /(?:approuvez-vous|approuves-tu|acceptez-vous|validez-vous|d'accord avec) (?:le|ce|mon) plan$|(?:le|ce|mon) plan (?:te|vous) convient/,
  /^(?:puis-je|dois-je) (?:commencer|continuer|procéder|lancer l'implémentation)$/,
  // Spanish
  /(?:apruebas?|aceptas?|de acuerdo con|te parece bien|le parece bien) (?:el|este|mi) plan$/,
  /^¿?(?:puedo|debo) (?:empezar|comenzar|continuar|proceder|implementar el plan)$/,
  // Chinese
  /(?:批准|同意|认可|接受)(?:这个|该|此|我的|上述)?(?:计划|方案)[吗么嘛]?$|^(?:这个|该|此|上述)?(?:计划|方案)(?:可以|行|好|没问题|怎么样|如何)[吗么嘛]?$/,
  /^我?(?:是否)?(?:可以|能)(?:现在)?(?:开始|继续)(?:实施|执行|实现|编码|写代码)?了?[吗么]?$/,
  // Japanese
  /^(?:この|上記の)?(?:計画|プラン)(?:で|は)(?:よろしい|いい|良い|問題ない|大丈夫)|(?:計画|プラン)を承認(?:しますか|していただけますか|してください)$/,
];
