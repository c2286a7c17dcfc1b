import type { Kysely } from 'kysely'
import type { ProofMethod } from '../accounts/verification-form.ts'
import { readVerifiedMethods } from '../accounts/verified-author.ts'
import { compileQuery, compileForColumns, type Param } from '../storage/compiled-query.ts'
import { parseJson, type StandingRow, type Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { settleBadges, toBadges, toReputationScore } from './badges.ts'
import { addFacts, areNoFacts, factNames, type Facts, noFacts, pickFacts } from './standing-facts.ts'

export type Author = Readonly<Pick<StandingRow, 'user_id' | 'username'>>

/**
 * The standing of an author: the facts and verifications from which the reputation score and the badges are computed.
 */
export interface Standing extends Author {
  readonly facts: Facts
  readonly verified: readonly ProofMethod[]
}

/**
 * Adds differences to the stored facts of authors, one per author, and updates their scores and badges. Skips zero
 * differences. Reads the standings of all authors with one query and writes them with another.
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
      ? await selectStanding(trx, { userId: ids[0]! })
      : await trx.selectFrom('standings').selectAll().where('user_id', 'in', ids).execute()
  const standings = new Map(rows.map((row) => [row.user_id, toStanding(row)]))
  const pairs = changes.map(({ user_id, username, facts }) => {
    const before = standings.get(user_id) ?? { user_id, username, facts: noFacts, verified: [] }
    return { before, after: { ...before, facts: addFacts(before.facts, facts) } }
  })
  const standingsAfter = pairs.map(({ after }) => after)
  await putStandings(trx, standingsAfter, at)
  for (const { before, after } of pairs) {
    await settleBadges(trx, after.user_id, { current: toBadges(before), earned: toBadges(after), at })
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
  await settleBadges(trx, userId, { current: toBadges(before), earned: toBadges(after), at })
}

/** Writes standings with their scores. A standing without any facts is deleted, so that it leaves no trace. */
export async function putStandings(trx: WriteTransaction, standings: readonly Standing[], at: number): Promise<void> {
  const gone = standings.filter(isEmptyStanding).map(({ user_id }) => user_id)
  const rows = standings.filter((standing) => !isEmptyStanding(standing)).map((standing) => toStandingRow(standing, at))
  if (gone.length > 0) await trx.deleteFrom('standings').where('user_id', 'in', gone).execute()
  const [row] = rows
  if (row && rows.length === 1) await upsertOne(trx, row)
  else if (row) await upsertStandings(trx, rows).execute()
}

/** `selectStanding` and `upsertOne` are compiled once, because every publish changes one standing. */
const selectStanding = compileQuery((db, param: Param<{ userId: string }>) =>
  db.selectFrom('standings').selectAll().where('user_id', '=', param('userId')),
)
const upsertOne = compileForColumns((db, row: StandingRow) => upsertStandings(db, [row]))

function upsertStandings(db: Kysely<Tables>, rows: readonly StandingRow[]) {
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
  const [row] = await selectStanding(db, { userId })
  return row && toStanding(row)
}

export function toStanding(row: StandingRow): Standing {
  const { user_id, username } = row
  return { user_id, username, facts: pickFacts(row), verified: parseJson(row.verified) }
}

function toStandingRow({ user_id, username, facts, verified }: Standing, at: number): StandingRow {
  const score = toReputationScore(facts, verified)
  return { user_id, username, ...facts, verified: JSON.stringify(verified), score, computed_at: at }
}

function isEmptyStanding({ facts, verified }: Standing): boolean {
  return areNoFacts(facts) && verified.length === 0
}
