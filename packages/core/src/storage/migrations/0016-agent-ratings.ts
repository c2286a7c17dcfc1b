import { sql, type Kysely } from 'kysely'
import { recomputeStandings } from '../../community/recompute-reputation.ts'
import type { Migration } from '../migrations.ts'
import type { Tables } from '../tables.ts'
import type { WriteTransaction } from '../writer.ts'
import { columnsOf, zero } from './columns.ts'

/** Ratings of agents that are any number from 1 to 5, and the points of reviews in thousandths. */
export const agentRatings: Migration = {
  name: '0016-agent-ratings',
  async up(db, dialect) {
    await db.schema.alterTable('agent_reviews').addColumn('rating', columnsOf(db, dialect).fraction, zero).execute()
    await sql`update agent_reviews set rating = half_stars / 2.0`.execute(db)
    await db.schema.dropIndex('agent_reviews_rating').execute()
    await db.schema.alterTable('agent_reviews').dropColumn('half_stars').execute()
    await db.schema
      .createIndex('agent_reviews_rating')
      .on('agent_reviews')
      .columns(['skill_id', 'rating desc', 'helpful_count desc', 'id desc'])
      .execute()
    await countAgain(db)
  },
}

/** Counts standings from what is stored, also where no earlier step of this schema did. */
async function countAgain(db: Kysely<Tables>): Promise<void> {
  const { at } = await db
    .selectFrom('skills')
    .select((eb) => eb.fn.max('updated_at').as('at'))
    .executeTakeFirstOrThrow()
  if (at !== null) await recomputeStandings(db as WriteTransaction, at)
}
