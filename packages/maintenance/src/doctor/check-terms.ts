import { setImmediate } from 'node:timers/promises'
import {
  type CatalogueContext,
  countRows,
  createProgress,
  findBlob,
  putTerms,
  sketchSkillMd,
} from '@skillstead/core/internal'
import type { Check } from './finding.ts'
import { repairText } from './skill-texts.ts'
import { readVersionPages, selectVersionsAfter } from './version-pages.ts'

/** Compares the terms for the search by described needs with the texts of all versions. */
export const termsCheck: Check = {
  name: 'terms',
  async run(context, report, faults) {
    const total = await countRows(context.database.read.selectFrom('versions'))
    const progress = createProgress(report, 'versions', total)
    for await (const rows of readPagesOf(context)) {
      for (const { id, name, stored } of await findWrong(context, rows)) {
        faults.add(stored ? `The terms of ${name} are of another text.` : `The search has no terms of ${name} (${id}).`)
      }
      progress(rows.length)
    }
    return faults.toOutcome(`The search has the terms of all ${total} versions.`)
  },
  async repair(context) {
    for await (const rows of readPagesOf(context)) {
      const wrong = await findWrong(context, rows)
      if (wrong.length === 0) continue
      await context.database.writer.write(
        async (trx) => {
          for (const { id, terms } of wrong) await putTerms(trx, { version_id: id, terms })
        },
        { bulk: true },
      )
    }
    // The full-text index contains the terms, so it is rebuilt as well.
    await repairText(context)
  },
}

type Row = Awaited<ReturnType<typeof readIndexedVersions>>[number]

const readPagesOf = (context: CatalogueContext) =>
  readVersionPages(context, (after) => readIndexedVersions(context, after))

function readIndexedVersions(context: CatalogueContext, after: string) {
  return selectVersionsAfter(context, after)
    .leftJoin('version_terms', 'version_terms.version_id', 'versions.id')
    .select('version_terms.terms')
    .execute()
}

/** The versions whose stored terms differ from those of their text. The contents check reports missing content. */
async function findWrong({ database }: CatalogueContext, page: readonly { row: Row; digest: string | undefined }[]) {
  const wrong: { id: string; name: string; stored: boolean; terms: Uint8Array }[] = []
  for (const { row, digest } of page) {
    const { id, full_name, version, terms: stored } = row
    const bytes = digest === undefined ? undefined : await findBlob(database, digest).catch(() => undefined)
    if (!bytes) continue
    const { terms } = sketchSkillMd(bytes)
    await setImmediate()
    if (stored && Buffer.compare(stored, terms) === 0) continue
    wrong.push({ id, name: `${full_name}@${version}`, stored: stored !== null, terms })
  }
  return wrong
}
