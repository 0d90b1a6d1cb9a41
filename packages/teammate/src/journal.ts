import { readSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DecisionJournal } from '@placet/mailbox';
import { syncDirectory } from '@placet/plan-mode';
import { Digest, RequestId, SessionId, Workspace } from '@placet/protocol';
import { z } from 'zod';

/** A submission that this teammate made or is about to make (TM-17). */
export const Intent = z.strictObject({
  kind: z.literal('intent'),
  sessionId: SessionId,
  requestId: RequestId,
  planDigest: Digest,
  revision: z.number().int().positive(),
  supersedes: RequestId.optional(),
  workspace: Workspace,
  workspaceDigest: Digest,
});
export type Intent = z.infer<typeof Intent>;

/** The store has acknowledged the submission: what was submitted before is void from now on. */
const Submitted = z.strictObject({
  kind: z.literal('submitted'),
  sessionId: SessionId,
  requestId: RequestId,
});

/** Work under a decision is about to begin, in this epoch. */
const Applied = z.strictObject({
  kind: z.literal('applied'),
  requestId: RequestId,
  jti: z.string().min(1).max(64),
  epoch: z.number().int().positive(),
});

/** What this teammate made, and is about to settle. */
const Made = z.strictObject({
  kind: z.literal('made'),
  requestId: RequestId,
  epoch: z.number().int().positive(),
  branch: z.string().max(255),
  commit: z.string().max(64),
});
export type Made = z.infer<typeof Made>;

/** The work under a decision is settled. */
const Settled = z.strictObject({ kind: z.literal('settled'), jti: z.string().min(1).max(64) });

const Entry = z.discriminatedUnion('kind', [Intent, Submitted, Applied, Made, Settled]);
type Entry = z.infer<typeof Entry>;

/** Where an entry stands in the file: its line, in bytes. */
interface Place {
  at: number;
  length: number;
}

/**
 * What this teammate knows by itself (TM-17): what it submitted, under which decisions it worked, and what it made. One
 * file, one line an entry, each written at once and on disk before the call answers. Several processes of a teammate
 * share it: each reads what the others appended before it answers. A line that a crash cut off is skipped. Of plans,
 * which may wait by the ten thousand, only the places are kept in memory (I7).
 */
export class Journal implements DecisionJournal {
  readonly #path: string;
  /** The last intent of each session, and the last one that the store acknowledged. */
  readonly #begun = new Map<SessionId, Place>();
  readonly #acknowledged = new Map<SessionId, Place>();
  /** The requests of begun submissions that are not acknowledged yet. */
  readonly #open = new Map<SessionId, RequestId>();
  readonly #appliedEpoch = new Map<string, number>();
  readonly #settled = new Set<string>();
  readonly #made = new Map<RequestId, Place>();
  readonly #buffer = Buffer.allocUnsafe(64 * 1024);
  #readTo = 0;
  #rest = '';
  #file: FileHandle | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Opens the journal, and makes it (0600) where there is none. */
  async open(): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    this.#file = await open(this.#path, 'a+', 0o600);
    await syncDirectory(dirname(this.#path));
    this.#readOn();
  }

  /** The last submission that was begun for a session, acknowledged or not. */
  begunIntent(sessionId: SessionId): Promise<Intent | undefined> {
    return this.#ask(() => this.#read(Intent, this.#begun.get(sessionId)));
  }

  /** The last submission of a session that the store has acknowledged. */
  acknowledgedIntent(sessionId: SessionId): Promise<Intent | undefined> {
    return this.#ask(() => this.#read(Intent, this.#acknowledged.get(sessionId)));
  }

  async lastIntent(sessionId: SessionId): Promise<RequestId | undefined> {
    return (await this.acknowledgedIntent(sessionId))?.requestId;
  }

  usedAs(jti: string): Promise<'unseen' | 'applied' | 'settled'> {
    return this.#ask(() => {
      if (this.#settled.has(jti)) return 'settled';
      return this.#appliedEpoch.has(jti) ? 'applied' : 'unseen';
    });
  }

  /** The latest epoch in which work under a decision was begun here; an older or equal one later is a replay. */
  appliedEpoch(jti: string): Promise<number | undefined> {
    return this.#ask(() => this.#appliedEpoch.get(jti));
  }

  /** What this teammate last made for a request. */
  made(requestId: RequestId): Promise<Made | undefined> {
    return this.#ask(() => this.#read(Made, this.#made.get(requestId)));
  }

  /** Says what is about to be submitted. */
  async submitting(intent: Omit<Intent, 'kind'>): Promise<void> {
    await this.#append({ ...intent, kind: 'intent' });
  }

  /** Says that the store has it: what was submitted for the session before is void from now on. */
  async submitted(sessionId: SessionId, requestId: RequestId): Promise<void> {
    if ((await this.lastIntent(sessionId)) !== requestId)
      await this.#append({ kind: 'submitted', sessionId, requestId });
  }

  /** Says that work under a decision is about to begin. */
  async applying(applied: { requestId: RequestId; jti: string; epoch: number }): Promise<void> {
    await this.#append({ kind: 'applied', ...applied });
  }

  /** Says what was made, before it is settled: nothing else is ever published for the request from here. */
  async settling(made: Omit<Made, 'kind'>): Promise<void> {
    await this.#append({ kind: 'made', ...made });
  }

  /** Says that the work under a decision is settled: the decision is void from now on. */
  async settled(jti: string): Promise<void> {
    await this.#append({ kind: 'settled', jti });
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => undefined);
    await this.#file?.close();
    this.#file = undefined;
  }

  /**
   * The line feed before the entry ends a line that somebody else was cut off in; the file is opened for appending, so
   * that one write is one whole entry whoever else writes.
   */
  #append(entry: Entry): Promise<void> {
    const bytes = Buffer.from(`\n${JSON.stringify(entry)}\n`);
    return this.#inTurn(async () => {
      const file = this.#opened();
      const { bytesWritten } = await file.write(bytes);
      if (bytesWritten !== bytes.length)
        throw new Error(`the journal ${this.#path} cannot be written: is the disk full?`);
      await file.datasync();
    });
  }

  /** Usually there is nothing new: asking that at once costs microseconds, by the thread pool a wake-up's tenth. */
  #readOn(): void {
    const { fd } = this.#opened();
    for (;;) {
      const buffer = this.#buffer;
      const bytesRead = readSync(fd, buffer, 0, buffer.length, this.#readTo);
      if (bytesRead === 0) return;
      let at = this.#readTo - this.#rest.length;
      this.#readTo += bytesRead;
      // Everything in the file is ASCII or inside JSON strings, where latin1 would do harm: decode whole lines only.
      const lines = (this.#rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) {
        this.#take(Buffer.from(line, 'latin1').toString('utf8'), { at, length: line.length });
        at += line.length + 1;
      }
    }
  }

  #take(line: string, place: Place): void {
    const entry = parseEntry(line);
    if (!entry) return;
    switch (entry.kind) {
      case 'intent':
        this.#begun.set(entry.sessionId, place);
        this.#open.set(entry.sessionId, entry.requestId);
        break;
      case 'submitted': {
        const begun = this.#begun.get(entry.sessionId);
        if (!begun || this.#open.get(entry.sessionId) !== entry.requestId) break;
        this.#acknowledged.set(entry.sessionId, begun);
        this.#open.delete(entry.sessionId);
        break;
      }
      case 'applied':
        this.#appliedEpoch.set(entry.jti, Math.max(entry.epoch, this.#appliedEpoch.get(entry.jti) ?? 0));
        break;
      case 'made':
        this.#made.set(entry.requestId, place);
        break;
      case 'settled':
        this.#settled.add(entry.jti);
    }
  }

  /** Answers from what every process has written so far. */
  async #ask<Value>(look: () => Value): Promise<Value> {
    this.#readOn();
    return look();
  }

  /** Reads an entry again. @throws Error when it is not there any more: somebody changed the file */
  #read<Schema extends z.ZodType>(schema: Schema, place: Place | undefined): z.output<Schema> | undefined {
    if (!place) return undefined;
    const buffer = Buffer.alloc(place.length);
    readSync(this.#opened().fd, buffer, 0, place.length, place.at);
    const entry = schema.safeParse(parseEntry(buffer.toString('utf8')));
    if (!entry.success) throw new Error(`the journal ${this.#path} was changed`);
    return entry.data;
  }

  #opened(): FileHandle {
    if (!this.#file) throw new Error(`the journal ${this.#path} is not open`);
    return this.#file;
  }

  /** One entry after the other, each on disk before the next. */
  #inTurn<Value>(step: () => Promise<Value>): Promise<Value> {
    const result = this.#turn.then(step, step);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

function parseEntry(line: string): Entry | undefined {
  if (line === '') return undefined;
  try {
    return Entry.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined; // cut off by a crash
  }
}
