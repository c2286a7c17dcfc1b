import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { keepListQuery } from '../storage/list-query.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { KnownSkill } from './look-up.ts'
import { offered } from './offered.ts'
import type { Suggestion } from './recommend.ts'

const categoriesMax = 3
/** As many as can be shown at all. */
const skillsMax = 10

/** What is downloaded most in the categories that most of the installed skills are in. */
export async function suggestFromCategories(
  { database }: Context,
  installed: readonly KnownSkill[],
): Promise<(Suggestion & { fullName: string })[]> {
  const ids = installed.map(({ id }) => id)
  const lists = toCategories(installed).map(async ({ category, share }) => {
    const popular = await selectPopular(database, category, ids)
    return popular.map(({ id, full_name }, place) => ({
      skillId: id,
      fullName: full_name,
      share: share * (1 - place / skillsMax),
      reason: `Popular in the category ${category}.`,
    }))
  })
  return (await Promise.all(lists)).flat()
}

function toCategories(installed: readonly KnownSkill[]): { category: string; share: number }[] {
  const named = installed.filter(({ category }) => category !== '')
  return [...Map.groupBy(named, ({ category }) => category)]
    .map(([category, { length }]) => ({ category, share: length / named.length }))
    .toSorted((a, b) => b.share - a.share || (a.category < b.category ? -1 : 1))
    .slice(0, categoriesMax)
}

const selectPopular = keepListQuery<Pick<SkillRow, 'id' | 'full_name'>>((db, lists) =>
  db
    .selectFrom('skills')
    .select(['id', 'full_name'])
    .where('category', '=', '')
    .where(lists.lacks('id'))
    .where(offered)
    .orderBy('downloads', 'desc')
    .orderBy('id')
    .limit(sql.lit(skillsMax)),
)
