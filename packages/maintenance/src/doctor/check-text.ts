import { setImmediate } from 'node:timers/promises'
import {
  clearTexts,
  findWrongTexts,
  type NumberedText,
  type CatalogueContext,
  putSkillText,
  readPages,
  toIndexText,
} from '@skillstead/core/internal'
import { repairAdvice, type Check } from './finding.ts'

const pageRows = 500

/** Compares the words of every skill in the full-text index with its row. */
export const textCheck: Check = {
  name: 'text',
  async run({ database }, report, faults) {
    report('reading the full-text index')
    const { missing, wrong, strange, total } = await findWrongTexts(database, readTexts(database))
    for (const name of missing) faults.add(`${name} is not in the full-text index.`)
    for (const name of wrong) faults.add(`The full-text index and the row of ${name} differ.`)
    for (const num of strange) faults.add(`The full-text index has a skill ${num} that does not exist.`)
    return faults.toOutcome(`The full-text index has the words of all ${total} skills.`, repairAdvice, {
      repairable: true,
    })
  },
  repair: repairText,
}

/** Rebuilds the full-text index. */
export async function repairText({ database }: CatalogueContext): Promise<void> {
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

function readTexts({ read }: CatalogueContext['database']): AsyncGenerator<NumberedText[]> {
  return readPages(
    0,
    (after) => readPage(read, after),
    ({ num }) => num,
  )
}

/** The texts that the index should contain: of all skills except withdrawn ones. */
async function readPage(db: CatalogueContext['database']['read'], after: number): Promise<NumberedText[]> {
  const columns = [
    ...(['num', 'full_name', 'name', 'owner', 'display_name', 'keywords', 'description'] as const),
    ...(['headings', 'summary', 'category'] as const),
  ] as const
  const rows = await db
    .selectFrom('skills')
    .select(columns)
    .where('num', '>', after)
    .where('state', '!=', 'withdrawn')
    .orderBy('num')
    .limit(pageRows)
    .execute()
  return rows.map(({ num, full_name, ...row }) => ({
    num,
    name: full_name,
    text: toIndexText({
      ...row,
      displayName: row.display_name,
      keywords: JSON.parse(row.keywords) as string[],
      headings: JSON.parse(row.headings) as string[],
    }),
  }))
}
