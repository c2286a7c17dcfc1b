import { setImmediate } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Tables } from './tables.ts'
import type { Writer } from './writer.ts'

/** A content that no version has, and how many bytes it takes as it is stored. */
export interface UnusedBlob {
  readonly digest: string
  readonly stored: number
}

const pageRows = 250

/** The contents that no version has, some at a time; `read` says how many were looked at. */
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
 * Removes those of the contents that no version has by now; answers which. A publish stores contents and the lists of
 * files that refer to them in one transaction, and transactions take turns, so none is removed in between.
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
