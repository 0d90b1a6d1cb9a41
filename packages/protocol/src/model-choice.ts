import { z } from 'zod';

/** The name of a model or of an alias for one, as its runtime takes it: a printable line without white space. */
export const ModelName = z
  .string()
  .max(256)
  .regex(/^[\x21-\x7e]+$/, 'must be one line of printable ASCII without white space');
export type ModelName = z.infer<typeof ModelName>;

/**
 * Why a model is in force (PM-80): it is the one that was named; an `alias` stands for it; the named one is not
 * permitted, and this is the `newest_of_family` that is; or there is none of its family, and the `resting_model` holds.
 */
export const ModelReason = z.enum(['as_named', 'alias', 'newest_of_family', 'resting_model']);
export type ModelReason = z.infer<typeof ModelReason>;
