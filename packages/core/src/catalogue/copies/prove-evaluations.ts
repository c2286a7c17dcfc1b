import { type Provenance, provenEvaluationsMax } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { proveIn } from '../../log/log-proofs.ts'
import type { TreeReader } from '../../log/tree-rows.ts'
import type { Tables } from '../../storage/tables.ts'

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

/**
 * The proofs of the newest entry of each user about a version, in a log of this size, unless that withdraws the result.
 */
export async function proveEvaluations(
  reader: TreeReader,
  { subject, treeSize, authors }: { subject: string; treeSize: number; authors: readonly string[] },
): Promise<NonNullable<Provenance['evaluations']>> {
  const proofs: NonNullable<Provenance['evaluations']> = []
  for (const author of authors) {
    const part = toAuthorPart(author)
    const found = await reader.rows.readNewest(reader.db, { type: 'evaluation', subject, treeSize, part })
    if (!found) continue
    const { seq, entry } = found
    const { data } = JSON.parse(entry) as { data: { result?: unknown } }
    if (!data.result) continue
    const { index, leafHash, inclusionProof } = await proveIn(reader, seq - 1, treeSize)
    proofs.push({ index, leafHash, inclusionProof, entry })
  }
  return proofs
}
