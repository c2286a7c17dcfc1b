import type { Kysely } from 'kysely'
import { toIndexText } from './tokenize.ts'
import type { Dialect } from '../storage/dialect.ts'
import type { Tables } from '../storage/tables.ts'
import { putSkillText } from '../storage/text-search.ts'
import type { WriteTransaction } from '../storage/writer.ts'

const batchRows = 500

/** Fills the database's full-text index (FTS5 or `tsvector`) from the skills. */
export async function indexTexts(trx: WriteTransaction, dialect: Dialect): Promise<void> {
  for (let last = 0; ;) {
    const skills = await readSkills(trx, last)
    for (const { num, ...skill } of skills) {
      const [keywords, headings] = [JSON.parse(skill.keywords) as string[], JSON.parse(skill.headings) as string[]]
      const text = toIndexText({ ...skill, displayName: skill.display_name, keywords, headings })
      await putSkillText(trx, dialect, num, text, { isNew: true })
    }
    if (skills.length === 0) return
    last = skills.at(-1)!.num
  }
}

function readSkills(trx: Kysely<Tables>, after: number) {
  return trx
    .selectFrom('skills')
    .select(['num', 'owner', 'name', 'display_name', 'keywords', 'description', 'headings', 'summary', 'category'])
    .where('num', '>', after)
    .where('state', '!=', 'withdrawn')
    .orderBy('num')
    .limit(batchRows)
    .execute()
}
