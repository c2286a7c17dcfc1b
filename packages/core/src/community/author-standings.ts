import type { Kysely } from 'kysely'
import { readVerifiedMethods, type VerifiedMethod } from '../accounts/verified-author.ts'
import { isListedToAll } from '../visibility/decisions.ts'
import { type Param, compileQuery, compileForColumns } from '../storage/compiled-query.ts'
import type { SkillRow, StandingRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { settleBadges, toBadges, toScore } from './badges.ts'

/** The inputs of an author's reputation, as columns of `standings`: sums over the author's skills. */
export const factNames = [
  ...(['skills', 'portable_skills', 'described_skills', 'downloads', 'stars', 'reviews', 'review_points'] as const),
  ...(['flagged_skills', 'hidden_skills', 'taken_down_skills'] as const),
] as const

export type Facts = Readonly<Record<(typeof factNames)[number], number>>

/** The minimum length of a description that counts as descriptive. */
export const descriptionCharactersMin = 40

/** The facts of an author without public skills. */
export const noFacts = Object.fromEntries(factNames.map((name) => [name, 0])) as Facts

/** The columns of a skill from which its contribution to its owner's reputation is computed. */
export const ratedColumns = [
  ...(['num', 'id', 'owner_id', 'visibility', 'state', 'stub', 'latest_version', 'portable', 'moderation'] as const),
  ...(['description', 'license', 'category', 'downloads'] as const),
  ...(['credited_stars', 'credited_reviews', 'credited_points'] as const),
] as const

export type RatedSkill = Pick<SkillRow, (typeof ratedColumns)[number]>

/** What one skill contributes to its owner's reputation. A skill that is not public contributes nothing. */
export function toFacts(skill: RatedSkill): Facts {
  if (skill.visibility !== 'public' || skill.stub === 1) return noFacts
  if (skill.state === 'hidden') return { ...noFacts, hidden_skills: 1 }
  if (skill.state === 'taken_down') return { ...noFacts, taken_down_skills: 1 }
  if (!isListedToAll(skill)) return noFacts
  return {
    ...noFacts,
    skills: 1,
    portable_skills: skill.portable,
    described_skills: Number(isDescribed(skill)),
    downloads: skill.downloads,
    stars: skill.credited_stars,
    reviews: skill.credited_reviews,
    review_points: skill.credited_points,
    flagged_skills: Number(skill.moderation === 'flagged'),
  }
}

function isDescribed({ description, license, category }: RatedSkill): boolean {
  return description.trim().length >= descriptionCharactersMin && license !== '' && category !== ''
}

export function addFacts(one: Facts, other: Facts): Facts {
  return mapFacts((name) => one[name] + other[name])
}

export function subtractFacts(one: Facts, other: Facts): Facts {
  return mapFacts((name) => one[name] - other[name])
}

/** Whether all facts are 0; for a difference, whether nothing changed. */
export function areNoFacts(facts: Facts): boolean {
  return factNames.every((name) => facts[name] === 0)
}

/** The facts of a row, without its other columns. */
function pickFacts(row: Facts): Facts {
  return mapFacts((name) => row[name])
}

function mapFacts(toValue: (name: keyof Facts) => number): Facts {
  return Object.fromEntries(factNames.map((name) => [name, toValue(name)])) as Facts
}

export interface Author {
  readonly user_id: string
  readonly username: string
}

/** The inputs from which a standing is computed. */
export interface Standing extends Author {
  readonly facts: Facts
  readonly verified: readonly VerifiedMethod[]
}

/**
 * Adds differences to the stored facts of authors, one per author, and updates their scores and badges. Skips zero
 * differences; the others need one read and one write query, for any number of authors.
 */
export async function addToStandings(
  trx: WriteTransaction,
  all: readonly (Author & { readonly facts: Facts })[],
  at: number,
): Promise<void> {
  const changes = all.filter(({ facts }) => !areNoFacts(facts))
  if (changes.length === 0) return
  const ids = changes.map(({ user_id }) => user_id)
  const rows =
    ids.length === 1
      ? await selectOne(trx, { userId: ids[0]! })
      : await trx.selectFrom('standings').selectAll().where('user_id', 'in', ids).execute()
  const standings = new Map(rows.map((row) => [row.user_id, toStanding(row)]))
  const pairs = changes.map(({ user_id, username, facts }) => {
    const before = standings.get(user_id) ?? { user_id, username, facts: noFacts, verified: [] }
    return { before, after: { ...before, facts: addFacts(before.facts, facts) } }
  })
  const standingsAfter = pairs.map(({ after }) => after)
  await putStandings(trx, standingsAfter, at)
  for (const { before, after } of pairs) {
    await settleBadges(trx, after.user_id, { current: earnedOf(before), earned: earnedOf(after), at })
  }
}

/** Recomputes a user's standing from the stored facts, after a verification was decided or revoked. */
export async function refreshStanding(trx: WriteTransaction, userId: string, at: number): Promise<void> {
  const user = trx.selectFrom('users').select('username').where('id', '=', userId)
  const { username } = await user.executeTakeFirstOrThrow()
  const before = (await findStanding(trx, userId)) ?? { user_id: userId, username, facts: noFacts, verified: [] }
  const verified = (await readVerifiedMethods(trx, [userId])).get(userId) ?? []
  const after = { ...before, verified }
  await putStandings(trx, [after], at)
  await settleBadges(trx, userId, { current: earnedOf(before), earned: earnedOf(after), at })
}

/** Writes standings with their scores. A standing without any facts is deleted, so that it leaves no trace. */
export async function putStandings(trx: WriteTransaction, standings: readonly Standing[], at: number): Promise<void> {
  const gone = standings.filter(isEmpty).map(({ user_id }) => user_id)
  const rows = standings.filter((standing) => !isEmpty(standing)).map((standing) => toRow(standing, at))
  if (gone.length > 0) await trx.deleteFrom('standings').where('user_id', 'in', gone).execute()
  const [row] = rows
  if (row && rows.length === 1) await upsertOne(trx, row)
  else if (row) await upsert(trx, rows).execute()
}

/** Compiled once: every publish changes one standing. */
const selectOne = compileQuery((db, param: Param<{ userId: string }>) =>
  db.selectFrom('standings').selectAll().where('user_id', '=', param('userId')),
)
const upsertOne = compileForColumns((db, row: StandingRow) => upsert(db, [row]))

function upsert(db: Kysely<Tables>, rows: readonly StandingRow[]) {
  return db
    .insertInto('standings')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('user_id')
        .doUpdateSet((eb) => Object.fromEntries(computedColumns.map((name) => [name, eb.ref(`excluded.${name}`)]))),
    )
}

const computedColumns = [...factNames, 'verified', 'score', 'computed_at'] as const

async function findStanding(db: Kysely<Tables>, userId: string): Promise<Standing | undefined> {
  const [row] = await selectOne(db, { userId })
  return row && toStanding(row)
}

export function toStanding(row: StandingRow): Standing {
  const { user_id, username } = row
  return { user_id, username, facts: pickFacts(row), verified: JSON.parse(row.verified) as VerifiedMethod[] }
}

function toRow({ user_id, username, facts, verified }: Standing, at: number): StandingRow {
  const score = toScore(facts, verified)
  return { user_id, username, ...facts, verified: JSON.stringify(verified), score, computed_at: at }
}

function isEmpty({ facts, verified }: Standing): boolean {
  return areNoFacts(facts) && verified.length === 0
}

function earnedOf({ facts, verified }: Standing): string[] {
  return toBadges(facts, verified)
}
