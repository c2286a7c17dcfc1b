import type { Selectable } from 'kysely'
import { toTimestamp } from '@skillstead/protocol'
import { type Param, compileQuery, compileInsert, compileWrite } from '../storage/compiled-query.ts'
import type { ChangeKind, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toEntryText } from './entry-text.ts'
import { hashLeaf } from './merkle.ts'
import { growTree, splitHashes } from './log-tree.ts'

/** The kinds of public change that the feed carries. */
type LogEntryType = 'version' | 'skill' | 'yank' | 'recall' | 'evaluation' | 'takedown' | 'withdrawn' | 'pack'

/** An entry that has no number yet. Entries are permanent, so personal data is limited to ids and usernames. */
export interface LogDraft {
  readonly type: LogEntryType
  readonly subject: string
  readonly digest: string | null
  readonly data: Record<string, unknown>
}

/** What readers of the change sequence need to know about a changed skill; see the table `changes`. */
export interface ChangedSkill {
  readonly name_before: string
  readonly readers_before: string
  readonly version: string
}

interface CatalogueChange {
  readonly kind: ChangeKind
  readonly subject: string
  readonly at: number
  readonly entries: readonly LogDraft[]
  readonly skill?: ChangedSkill
}

/**
 * Assigns the next number to a catalogue change, and appends its public part to the log and the Merkle tree. The
 * numbers of changes and of log entries have no gaps: the transaction of the change assigns them, and there is one
 * writer at a time. `known` is the head, if the caller has read it since the last change.
 */
export async function appendChange(trx: WriteTransaction, change: CatalogueChange, known?: LogHead): Promise<number> {
  const { kind, subject, at, entries, skill } = change
  const { change_seq, log_seq: size, frontier } = known ?? (await readLogHead(trx))
  const seq = change_seq + 1
  await insertChange(trx, { seq, kind, subject, at, ...skill })
  if (entries.length === 0) {
    await setHead(trx, { seq, size, frontier })
    return seq
  }
  const rows = entries.map((entry, i) => toLogRow(entry, size + 1 + i, at))
  await insertLogEntries(trx, ...rows)
  const leaves = rows.map(({ hash }) => hash)
  const grown = await growTree(trx, { size, frontier: splitHashes(frontier) }, leaves)
  await setHead(trx, { seq, size: size + entries.length, frontier: grown })
  return seq
}

/** The last numbers of the change sequence and the log, and the frontier of the Merkle tree. */
export type LogHead = Pick<Selectable<Tables['heads']>, 'change_seq' | 'log_seq' | 'frontier'>

/** Reads the head, which only {@link appendChange} changes: during a write, no other writer can change it. */
export async function readLogHead(trx: WriteTransaction): Promise<LogHead> {
  const [head] = await selectLogHead(trx, {})
  return head!
}

/** Deletes the changes before a time, in milliseconds since 1970; the log keeps its entries. */
export async function removeChanges(trx: WriteTransaction, before: number): Promise<void> {
  await trx.deleteFrom('changes').where('at', '<', before).execute()
}

const insertChange = compileInsert('changes')
const insertLogEntries = compileInsert('log')
const selectLogHead = compileQuery((db) => db.selectFrom('heads').select(['change_seq', 'log_seq', 'frontier']))
const setHead = compileWrite((db, param: Param<{ seq: number; size: number; frontier: Uint8Array }>) =>
  db.updateTable('heads').set({ change_seq: param('seq'), log_seq: param('size'), frontier: param('frontier') }),
)

function toLogRow(draft: LogDraft, seq: number, at: number) {
  const { type, subject, digest, data } = draft
  const entry = toEntryText({ seq, type, at: toTimestamp(at), subject, digest, data })
  return { seq, hash: hashLeaf(entry), type, at, subject, digest, entry }
}
