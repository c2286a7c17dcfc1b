import { setImmediate } from 'node:timers/promises'
import {
  clearTexts,
  type Database,
  type Dialect,
  putSkillText,
  readPages,
  toIndexText,
  type WriteTransaction,
} from '@skillstead/core/internal'
import type { NumberedText } from './text-drift.ts'

type Reader = Database['read']

const pageRows = 500

/** Fills the empty full-text index (FTS5 or `tsvector`) from the skills, in the transaction of an import. */
export async function indexTexts(trx: WriteTransaction, dialect: Dialect): Promise<void> {
  for await (const texts of readTexts(trx)) {
    for (const { num, text } of texts) await putSkillText(trx, dialect, num, text, { isNew: true })
  }
}

/** Rebuilds the full-text index of a registry, also while nodes use it. */
export async function repairText({ database }: { readonly database: Database }): Promise<void> {
  const { writer, dialect } = database
  await writer.write((trx) => clearTexts(trx, dialect))
  for (let after: number | undefined = 0; after !== undefined;) {
    const last: number = after
    // Read in the writing transaction: a running node may change the rows between a read and a write.
    after = await writer.write(
      async (trx) => {
        const texts = await readPage(trx, last)
        for (const { num, text } of texts) await putSkillText(trx, dialect, num, text, { isNew: false })
        return texts.at(-1)?.num
      },
      { bulk: true },
    )
    await setImmediate()
  }
}

/** The texts that the index should contain: of all skills except withdrawn ones. */
export function readTexts(db: Reader): AsyncGenerator<NumberedText[]> {
  return readPages(
    0,
    (after) => readPage(db, after),
    ({ num }) => num,
  )
}

async function readPage(db: Reader, after: number): Promise<NumberedText[]> {
  const rows = await db
    .selectFrom('skills')
    .leftJoin('versions', (join) =>
      join.onRef('versions.skill_id', '=', 'skills.id').onRef('versions.version', '=', 'skills.latest_version'),
    )
    .leftJoin('version_terms', 'version_terms.version_id', 'versions.id')
    .select(['skills.num', 'skills.full_name', 'skills.name', 'skills.owner', 'skills.display_name', 'skills.keywords'])
    .select(['skills.description', 'skills.headings', 'skills.summary', 'skills.category', 'version_terms.terms'])
    .where('skills.num', '>', after)
    .where('skills.state', '!=', 'withdrawn')
    .orderBy('skills.num')
    .limit(pageRows)
    .execute()
  return rows.map(({ num, full_name, terms, ...row }) => {
    const [keywords, headings] = [JSON.parse(row.keywords) as string[], JSON.parse(row.headings) as string[]]
    const document = { ...row, displayName: row.display_name, keywords, headings }
    return { num, name: full_name, text: toIndexText(document, terms ?? undefined) }
  })
}
