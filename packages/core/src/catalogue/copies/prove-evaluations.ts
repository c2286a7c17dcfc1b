import { type Provenance, provenEvaluationsMax } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { LogContext } from '../../log/log-context.ts'
import { proveIn } from '../../log/log-proofs.ts'
import { readerOf, type TreeReader } from '../../log/tree-rows.ts'
import type { Tables } from '../../storage/tables.ts'

/** An entry of a result in a log, as canonical JSON. */
interface ResultEntry {
  readonly seq: number
  readonly entry: string
}

/** The ids of the last users who posted a result for a version: as many as have a proof, and one proof each. */
export async function readProvenAuthors(db: Kysely<Tables>, versionId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('evaluations')
    .select('author_id')
    .where('version_id', '=', versionId)
    .where('withdrawn', '=', 0)
    .orderBy('posted_at', 'desc')
    .orderBy('author_id')
    .limit(provenEvaluationsMax)
    .execute()
  return rows.map(({ author_id }) => author_id)
}

/** A part of the text of each entry of a result of a user: canonical JSON has its keys in this order. */
export function toAuthorPart(authorId: string): string {
  return `"author":{"id":"${authorId}"`
}

/** The proofs of the last results of these users for a version, in this node's log of this size. */
export async function proveEvaluations(
  context: LogContext,
  subject: string,
  treeSize: number,
  authors: readonly string[],
) {
  return proveResults(readerOf(context), treeSize, authors, (pattern) =>
    context.database.read
      .selectFrom('log')
      .select(['seq', 'entry'])
      .where('subject', '=', subject)
      .where('type', '=', 'evaluation')
      .where('seq', '<=', treeSize)
      .where('entry', 'like', pattern)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst(),
  )
}

/**
 * The proof of the newest entry of each user, unless that withdraws the result. `findNewest` finds it by a pattern for
 * its text.
 */
export async function proveResults(
  reader: TreeReader,
  treeSize: number,
  authors: readonly string[],
  findNewest: (pattern: string) => Promise<ResultEntry | undefined>,
) {
  const proofs: NonNullable<Provenance['evaluations']> = []
  for (const author of authors) {
    const found = await findNewest(`%${toAuthorPart(author)}%`)
    if (!found) continue
    const { seq, entry } = found
    const { data } = JSON.parse(entry) as { data: { result?: unknown } }
    if (!data.result) continue
    const { index, leafHash, inclusionProof } = await proveIn(reader, seq - 1, treeSize)
    proofs.push({ index, leafHash, inclusionProof, entry })
  }
  return proofs
}
