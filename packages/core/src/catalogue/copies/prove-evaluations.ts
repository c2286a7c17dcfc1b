import { type Provenance, provenEvaluationsMax } from '@skillstead/protocol'
import type { LogContext } from '../../log/log-context.ts'
import { proveIn } from '../../log/log-proofs.ts'
import { readerOf, type TreeReader } from '../../log/tree-rows.ts'

/** Entries of results of one version that are read for proofs, the newest. */
export const evaluationEntriesMax = 50

/** An entry of a result in a log, as canonical JSON. */
interface ResultEntry {
  readonly seq: number
  readonly entry: string
}

/** The proofs of the last results of evaluations of a version, in this node's log of this size. */
export async function proveEvaluations(context: LogContext, subject: string, treeSize: number) {
  const rows = await context.database.read
    .selectFrom('log')
    .select(['seq', 'entry'])
    .where('subject', '=', subject)
    .where('type', '=', 'evaluation')
    .where('seq', '<=', treeSize)
    .orderBy('seq', 'desc')
    .limit(evaluationEntriesMax)
    .execute()
  return proveResults(readerOf(context), rows, treeSize)
}

/** The proofs of the newest entry of each author, unless that withdraws the result. `newest`: newest first. */
export async function proveResults(reader: TreeReader, newest: readonly ResultEntry[], treeSize: number) {
  const proofs: NonNullable<Provenance['evaluations']> = []
  const authors = new Set<unknown>()
  for (const { seq, entry } of newest) {
    const { data } = JSON.parse(entry) as { data: { author?: { id?: unknown }; result?: unknown } }
    const isLast = !authors.has(data.author?.id)
    authors.add(data.author?.id)
    if (!isLast || !data.result || proofs.length === provenEvaluationsMax) continue
    const { index, leafHash, inclusionProof } = await proveIn(reader, seq - 1, treeSize)
    proofs.push({ index, leafHash, inclusionProof, entry })
  }
  return proofs
}
