import { toIndexText } from '../search/tokenize.ts'
import type { Dialect } from '../storage/dialect.ts'
import type { SkillRow } from '../storage/tables.ts'
import { putSkillText, removeSkillText } from '../storage/text-search.ts'
import type { WriteTransaction } from '../storage/writer.ts'

export async function indexSkillText(
  trx: WriteTransaction,
  dialect: Dialect,
  before: SkillRow | undefined,
  skill: SkillRow,
): Promise<void> {
  if (skill.state === 'withdrawn') return removeSkillText(trx, skill.num, dialect)
  if (before && textColumns.every((column) => before[column] === skill[column])) return
  const document = {
    ...skill,
    displayName: skill.display_name,
    keywords: JSON.parse(skill.keywords) as string[],
    headings: JSON.parse(skill.headings) as string[],
  }
  await putSkillText(trx, dialect, skill.num, toIndexText(document), { isNew: !before })
}

const textColumns = [
  'name',
  'owner',
  'display_name',
  'keywords',
  'description',
  'headings',
  'summary',
  'category',
  'state',
] as const
