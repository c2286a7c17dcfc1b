import { setImmediate } from 'node:timers/promises'
import { hourMs, minuteMs } from '../../kernel/clock.ts'
import { findMeta, putMeta, removeMeta } from '../../storage/meta.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { findSkillMd, readSkillMdRows } from './copy-candidates.ts'
import type { SketchedVersion } from '../sketches/copy-index.ts'
import { hashSkillMdWords, sketchWords } from '../sketches/sketch.ts'

const sketchTopic = 'copies.sketch'
/** Key of the last sketched version's id in `meta`; exists until all versions older than the index are sketched. */
const sketchMetaKey = 'copies.sketched'
const versionsPerRun = 100
const versionsPerWrite = 10

/**
 * Sketches the versions that are older than the index, oldest first, one batch per outbox row. This work continues
 * after a restart.
 */
export async function scheduleSketches(context: CatalogueContext): Promise<void> {
  const afterwards = async (trx: WriteTransaction) => {
    if ((await findMeta(trx, sketchMetaKey)) === undefined) return
    await context.outbox.enqueue(trx, { topic: sketchTopic, payload: {}, uniqueKey: sketchTopic })
  }
  const retryDelaysMs = [minuteMs, 10 * minuteMs, hourMs]
  context.outbox.handle(sketchTopic, { retryDelaysMs, handle: () => sketchSome(context), afterwards })
  if ((await findMeta(context.database.read, sketchMetaKey)) !== undefined)
    await context.database.writer.write(afterwards)
}

/** Deletes all sketches; the next process with a worker rebuilds them in batches. */
export async function forgetSketches({ database }: Pick<CatalogueContext, 'database'>): Promise<void> {
  await database.writer.write(async (trx) => {
    for (const table of ['waiting_sketches', 'shared_shingles', 'version_sketches'] as const) {
      await trx.deleteFrom(table).execute()
    }
    await putMeta(trx, sketchMetaKey, '')
  })
}

async function sketchSome(context: CatalogueContext): Promise<void> {
  const after = await findMeta(context.database.read, sketchMetaKey)
  if (after === undefined) return
  const versions = await context.database.read
    .selectFrom('versions')
    .select(['id', 'skill_id'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(versionsPerRun)
    .execute()
  const sources = await readSkillMdRows(
    context,
    versions.map(({ id }) => id),
  )
  for (let i = 0; i < versions.length && !context.closing.aborted; i += versionsPerWrite) {
    const some: SketchedVersion[] = []
    for (const { id, skill_id } of versions.slice(i, i + versionsPerWrite)) {
      const skillMd = (await findSkillMd(context, sources.get(id)!.digest)) ?? ''
      some.push({ skillId: skill_id, versionId: id, sketch: sketchWords(hashSkillMdWords(skillMd)) })
      await setImmediate()
    }
    await storeSketches(context, some)
  }
  if (versions.length > 0) return
  await context.database.writer.write((trx) => removeMeta(trx, sketchMetaKey))
}

async function storeSketches(context: CatalogueContext, versions: readonly SketchedVersion[]): Promise<void> {
  await context.database.writer.write(async (trx) => {
    for (const version of versions) await context.copies.put(trx, version)
    await putMeta(trx, sketchMetaKey, versions.at(-1)!.versionId)
  })
}
