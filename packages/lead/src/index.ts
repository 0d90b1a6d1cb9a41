export { type Access, accessTable } from './access-table.ts';
export { createLead, type Lead, type LeadOptions } from './app.ts';
export type { LeadConfig, LeadStores } from './lead-context.ts';
export { type LeadProcess, type LeadProcessOptions, startLeadProcess } from './lead-process.ts';
export { createLog, type Log } from './log.ts';
