import { setImmediate } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Tables } from './tables.ts'
import type { Writer } from './writer.ts'

/** A blob that no version uses, with its stored size in bytes. */
export interface UnusedBlob {
  readonly digest: string
  readonly stored: number
}

const pageRows = 250

/** Finds the blobs that no version uses, in batches; `read` is the number of blobs that were checked. */
export async function* findUnusedBlobs(
  db: Kysely<Tables>,
): AsyncGenerator<{ readonly unused: UnusedBlob[]; readonly read: number }> {
  for (let after = ''; ;) {
    const { rows } = await sql<UnusedBlob & { used: number }>`select digest, length(bytes) as stored,
        case when exists (select 1 from version_files where version_files.digest = blobs.digest) then 1 else 0 end as used
      from blobs where digest > ${after} order by digest limit ${sql.lit(pageRows)}`.execute(db)
    if (rows.length === 0) return
    yield { unused: rows.filter(({ used }) => used === 0), read: rows.length }
    after = rows.at(-1)!.digest
    await setImmediate()
  }
}

/**
 * Deletes those blobs that are still unused, and returns them. A publish stores blobs and the lists of files that refer
 * to them in one transaction, and transactions are serialised, so a blob in use is never deleted.
 */
export async function removeUnusedBlobs(writer: Writer, unused: readonly UnusedBlob[]): Promise<UnusedBlob[]> {
  if (unused.length === 0) return []
  const digests = unused.map(({ digest }) => digest)
  const gone = await writer.write((trx) =>
    trx
      .deleteFrom('blobs')
      .where('digest', 'in', digests)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb.selectFrom('version_files').select('path').whereRef('version_files.digest', '=', 'blobs.digest'),
          ),
        ),
      )
      .returning('digest')
      .execute(),
  )
  const digestsGone = new Set(gone.map(({ digest }) => digest))
  return unused.filter(({ digest }) => digestsGone.has(digest))
}
