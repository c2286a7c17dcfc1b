import { setImmediate } from 'node:timers/promises'
import {
  countRows,
  createProgress,
  findBlob,
  findCrowded,
  forgetSketches,
  type CatalogueContext,
  type Sketch,
  toSketch,
} from '@skillstead/core/internal'
import type { Check } from './finding.ts'
import { readVersionPages, selectVersionsAfter } from './version-pages.ts'

/** Compares the copy check's sketches with the texts of all versions. */
export const sketchesCheck: Check = {
  name: 'sketches',
  async run(context, report, faults) {
    const { database } = context
    const waiting = await database.read
      .selectFrom('meta')
      .select('key')
      .where('key', '=', 'copies.sketched')
      .executeTakeFirst()
    if (waiting)
      return { ok: true, detail: 'Some sketches are pending. A running node creates them in the background.' }
    const total = await countRows(database.read.selectFrom('versions'))
    const progress = createProgress(report, 'versions', total)
    for await (const page of readVersionPages(context, (after) => readSketchedVersions(context, after))) {
      for (const { row, digest } of page) {
        const problem = await findSketchProblem(context, row, digest)
        if (problem) faults.add(problem)
        await setImmediate()
      }
      progress(page.length)
    }
    return faults.toOutcome(`The copy check has sketches of all ${total} versions.`)
  },
  repair: forgetSketches,
}

type Row = Awaited<ReturnType<typeof readSketchedVersions>>[number]

function readSketchedVersions(context: CatalogueContext, after: string) {
  return selectVersionsAfter(context, after)
    .leftJoin('version_sketches', 'version_sketches.version_id', 'versions.id')
    .select('version_sketches.shingles')
    .execute()
}

async function findSketchProblem(
  context: CatalogueContext,
  row: Row,
  digest: string | undefined,
): Promise<string | undefined> {
  const name = `${row.full_name}@${row.version}`
  if (row.shingles === null) return `The copy check has no sketch of ${name}.`
  const sketch = digest === undefined ? undefined : await readSketch(context, digest)
  // Missing or damaged content is reported by the contents check.
  if (!sketch) return undefined
  if (sketch.shingleCount !== row.shingles) return `The copy check has a sketch of another text for ${name}.`
  return (await hasStoredShingles(context, row.num, sketch))
    ? undefined
    : `The copy check's sketch of ${name} is incomplete.`
}

async function readSketch({ database }: CatalogueContext, digest: string): Promise<Sketch | undefined> {
  const bytes = await findBlob(database, digest).catch(() => undefined)
  return bytes && toSketch(bytes)
}

/** Whether a sketch's shingles are stored. A shingle that very many skills share is stored only for the first ones. */
async function hasStoredShingles(
  { copies, database }: CatalogueContext,
  num: number,
  { kept }: Sketch,
): Promise<boolean> {
  const found = new Set((await copies.findHolders(kept, [num])).map(({ shingle }) => shingle))
  const lacking = kept.filter((shingle) => !found.has(shingle))
  return lacking.length === 0 || (await findCrowded(database.read, lacking)).length === lacking.length
}
