import { sql, type SelectQueryBuilder } from 'kysely'
import type { CommunityContext } from './community-context.ts'
import { keepListQuery, type Lists } from '../storage/list-query.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import type { KnownSkill } from './look-up-installs.ts'
import { offered } from './offered-skills.ts'
import type { Asker, Suggestion } from './recommendations.ts'

const categoriesMax = 3
/** The maximum number of recommendations in a response. */
const skillsMax = 10

type NamedSuggestion = Suggestion & { readonly fullName: string }

/**
 * The most downloaded skills in the categories of the installed skills, or of the whole node if no installed skill has
 * a category.
 */
export async function suggestPopular(
  { database }: CommunityContext,
  installed: readonly KnownSkill[],
  { userIds }: Pick<Asker, 'userIds'>,
): Promise<NamedSuggestion[]> {
  const ids = installed.map(({ id }) => id)
  const categories = toCategories(installed)
  if (categories.length === 0)
    return toSuggestions(await selectPopular(database, ids, userIds), 1, 'Popular on this node.')
  const lists = categories.map(async ({ category, share }) => {
    const popular = await selectPopularOf(database, category, ids, userIds)
    return toSuggestions(popular, share, 'Popular in its category.')
  })
  return (await Promise.all(lists)).flat()
}

function toSuggestions(popular: readonly PopularRow[], share: number, reason: string): NamedSuggestion[] {
  return popular.map(({ id, full_name }, place) => ({
    skillId: id,
    fullName: full_name,
    share: share * (1 - place / skillsMax),
    reason,
  }))
}

function toCategories(installed: readonly KnownSkill[]): { category: string; share: number }[] {
  const named = installed.filter(({ category }) => category !== '')
  return [...Map.groupBy(named, ({ category }) => category)]
    .map(([category, { length }]) => ({ category, share: length / named.length }))
    .toSorted((a, b) => b.share - a.share || (a.category < b.category ? -1 : 1))
    .slice(0, categoriesMax)
}

type PopularRow = Pick<SkillRow, 'id' | 'full_name'>

const selectPopular = keepListQuery<PopularRow>((db, lists) => popularOf(db.selectFrom('skills'), lists))
const selectPopularOf = keepListQuery<PopularRow>((db, lists) =>
  popularOf(db.selectFrom('skills').where('category', '=', ''), lists),
)

function popularOf(skills: SelectQueryBuilder<Tables, 'skills', object>, lists: Lists) {
  return skills
    .select(['id', 'full_name'])
    .where(lists.lacks('id'))
    .where((eb) => eb.or([eb('forked_from', 'is', null), lists.lacks('owner_id')]))
    .where(offered)
    .orderBy('downloads', 'desc')
    .orderBy('id')
    .limit(sql.lit(skillsMax))
}
