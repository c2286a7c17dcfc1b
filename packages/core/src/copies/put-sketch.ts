import type { Dialect } from '../storage/database.ts'
import { putShingles } from '../storage/shared-shingles.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { Sketch } from './sketch.ts'

/** A version that was stored, and its sketch. */
export interface SketchedVersion {
  readonly skillId: string
  readonly versionId: string
  readonly sketch: Sketch
}

/**
 * Enters a version in the index of copies, once. Only what its skill did not say before takes room there: a version that
 * changes little adds little, and what older versions said is still found.
 */
export async function putSketch(
  trx: WriteTransaction,
  dialect: Dialect,
  { skillId, versionId, sketch }: SketchedVersion,
): Promise<void> {
  const row = await trx
    .insertInto('version_sketches')
    .values({ version_id: versionId, shingles: sketch.shingleCount })
    .onConflict((conflict) => conflict.column('version_id').doNothing())
    .returning('num')
    .executeTakeFirst()
  if (!row || sketch.kept.length === 0) return
  await putShingles(trx, dialect, { skillId, sketchNum: row.num, shingles: sketch.kept })
}
