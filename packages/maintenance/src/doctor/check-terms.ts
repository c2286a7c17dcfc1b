import { setImmediate } from 'node:timers/promises'
import {
  type CatalogueContext,
  countRows,
  createProgress,
  findBlob,
  putTerms,
  readPages,
  readSkillMd,
  readSources,
} from '@skillstead/core/internal'
import { repairAdvice, type Check } from './finding.ts'
import { repairText } from './skill-texts.ts'

const pageRows = 100

/** Compares the terms for the search by need with the texts of all versions. */
export const termsCheck: Check = {
  name: 'terms',
  async run(context, report, faults) {
    const total = await countRows(context.database.read.selectFrom('versions'))
    const progress = createProgress(report, 'versions', total)
    for await (const rows of readVersionPages(context)) {
      for (const { id, name, stored } of await findWrong(context, rows)) {
        faults.add(stored ? `The terms of ${name} are of another text.` : `The search has no terms of ${name} (${id}).`)
      }
      progress(rows.length)
    }
    return faults.toOutcome(`The search has the terms of all ${total} versions.`, repairAdvice, { repairable: true })
  },
  async repair(context) {
    for await (const rows of readVersionPages(context)) {
      const wrong = await findWrong(context, rows)
      if (wrong.length === 0) continue
      await context.database.writer.write(
        async (trx) => {
          for (const { id, terms } of wrong) await putTerms(trx, { version_id: id, terms })
        },
        { bulk: true },
      )
    }
    // The full-text index contains the terms.
    await repairText(context)
  },
}

type Row = Awaited<ReturnType<typeof readVersions>>[number]

function readVersionPages({ database }: CatalogueContext): AsyncGenerator<Row[]> {
  return readPages(
    '',
    (after) => readVersions(database, after),
    ({ id }) => id,
  )
}

function readVersions({ read }: CatalogueContext['database'], after: string) {
  return read
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .leftJoin('version_terms', 'version_terms.version_id', 'versions.id')
    .select(['versions.id', 'versions.version', 'skills.full_name', 'version_terms.terms'])
    .where('versions.id', '>', after)
    .orderBy('versions.id')
    .limit(pageRows)
    .execute()
}

/** The versions whose stored terms differ from those of their text. Missing content is reported by the contents check. */
async function findWrong(context: CatalogueContext, rows: readonly Row[]) {
  const sources = await readSources(
    context,
    rows.map(({ id }) => id),
  )
  const wrong: { id: string; name: string; stored: boolean; terms: Uint8Array }[] = []
  for (const { id, full_name, version, terms: stored } of rows) {
    const digest = sources.get(id)?.digest
    const bytes =
      digest === undefined ? undefined : await findBlob(context.database.read, digest).catch(() => undefined)
    if (!bytes) continue
    const { terms } = readSkillMd(bytes)
    await setImmediate()
    if (stored && Buffer.compare(stored, terms) === 0) continue
    wrong.push({ id, name: `${full_name}@${version}`, stored: stored !== null, terms })
  }
  return wrong
}
