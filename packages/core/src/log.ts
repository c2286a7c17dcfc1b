import canonicalize from 'canonicalize'
import { toTimestamp } from './clock.ts'
import type { ChangeKind } from './storage/tables.ts'
import type { WriteTransaction } from './storage/writer.ts'

/** The kinds of public change that the feed carries. */
type LogEntryType = 'version' | 'skill' | 'yank' | 'takedown' | 'withdrawn' | 'pack'

/** An entry before it has its number. It holds ids and usernames and nothing else of a person: it stays for ever. */
export interface LogDraft {
  readonly type: LogEntryType
  readonly subject: string
  readonly digest: string | null
  readonly data: Record<string, unknown>
}

/**
 * Numbers one change of the catalogue, and appends what everyone may see of it to the public log. Both sequences are
 * dense, because their heads are raised in the transaction of the change, one writer at a time.
 */
export async function appendChange(
  trx: WriteTransaction,
  change: { kind: ChangeKind; subject: string; at: number; entries: readonly LogDraft[] },
): Promise<number> {
  const { kind, subject, at, entries } = change
  const head = await trx
    .updateTable('heads')
    .set((eb) => ({ change_seq: eb('change_seq', '+', 1), log_seq: eb('log_seq', '+', entries.length) }))
    .returning(['change_seq', 'log_seq'])
    .executeTakeFirstOrThrow()
  await trx.insertInto('changes').values({ seq: head.change_seq, kind, subject, at }).execute()
  const first = head.log_seq - entries.length + 1
  if (entries.length > 0) {
    await trx
      .insertInto('log')
      .values(entries.map((entry, i) => toLogRow(entry, first + i, at)))
      .execute()
  }
  return head.change_seq
}

function toLogRow(draft: LogDraft, seq: number, at: number) {
  const { type, subject, digest, data } = draft
  const entry = canonicalize({ seq, type, at: toTimestamp(at), subject, digest, data })
  if (entry === undefined) throw new TypeError('A log entry must be a JSON value.')
  return { seq, type, at, subject, digest, entry }
}
