import { toTimestamp } from './clock.ts'
import type { ChangeKind } from './storage/tables.ts'
import type { WriteTransaction } from './storage/writer.ts'
import { toEntryText } from './transparency/entry-text.ts'
import { hashLeaf } from './transparency/merkle.ts'
import { growTree, splitHashes } from './transparency/tree.ts'

/** The kinds of public change that the feed carries. */
type LogEntryType = 'version' | 'skill' | 'yank' | 'takedown' | 'withdrawn' | 'pack'

/** An entry before it has its number. It holds ids and usernames and nothing else of a person: it stays for ever. */
export interface LogDraft {
  readonly type: LogEntryType
  readonly subject: string
  readonly digest: string | null
  readonly data: Record<string, unknown>
}

/** Rows a statement: both databases bound the parameters of one, and a long history enters at once. */
const rowsMax = 500

/**
 * Numbers one change of the catalogue, and appends what everyone may see of it to the public log and its Merkle tree.
 * Both sequences are dense, because their heads are raised in the transaction of the change, one writer at a time.
 */
export async function appendChange(
  trx: WriteTransaction,
  change: { kind: ChangeKind; subject: string; at: number; entries: readonly LogDraft[] },
): Promise<number> {
  const { kind, subject, at, entries } = change
  const head = await trx
    .updateTable('heads')
    .set((eb) => ({ change_seq: eb('change_seq', '+', 1), log_seq: eb('log_seq', '+', entries.length) }))
    .returning(['change_seq', 'log_seq', 'frontier'])
    .executeTakeFirstOrThrow()
  await trx.insertInto('changes').values({ seq: head.change_seq, kind, subject, at }).execute()
  if (entries.length > 0) {
    const size = head.log_seq - entries.length
    await appendEntries(trx, { size, frontier: splitHashes(head.frontier) }, entries, at)
  }
  return head.change_seq
}

async function appendEntries(
  trx: WriteTransaction,
  head: { size: number; frontier: Buffer[] },
  entries: readonly LogDraft[],
  at: number,
): Promise<void> {
  const rows = entries.map((entry, i) => toLogRow(entry, head.size + 1 + i, at))
  for (let i = 0; i < rows.length; i += rowsMax) {
    await trx
      .insertInto('log')
      .values(rows.slice(i, i + rowsMax))
      .execute()
  }
  const leaves = rows.map(({ hash }) => hash)
  await trx
    .updateTable('heads')
    .set({ frontier: await growTree(trx, head, leaves) })
    .execute()
}

function toLogRow(draft: LogDraft, seq: number, at: number) {
  const { type, subject, digest, data } = draft
  const entry = toEntryText({ seq, type, at: toTimestamp(at), subject, digest, data })
  return { seq, hash: hashLeaf(entry), type, at, subject, digest, entry }
}
