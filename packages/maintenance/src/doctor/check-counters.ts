import { sql } from 'kysely'
import {
  type CatalogueContext,
  readPages,
  settleTrust,
  toTrustScore,
  trustTable,
  type WriteTransaction,
} from '@skillstead/core/internal'
import type { Check, Faults } from './finding.ts'

/** Stored counters, with queries for their correct values. */
const counters: readonly {
  readonly table: 'skills' | 'requests' | 'agents' | 'agent_reviews'
  readonly name: string
  readonly column: string
  readonly what: string
  readonly value: string
}[] = [
  {
    table: 'skills',
    name: 'full_name',
    column: 'stars',
    what: 'stars',
    value: 'select count(*) from stars where stars.skill_id = skills.id',
  },
  {
    table: 'skills',
    name: 'full_name',
    column: 'agent_installs',
    what: 'installs by agents',
    value: 'select count(*) from agent_skills where agent_skills.skill_id = skills.id and counted = 1',
  },
  {
    table: 'requests',
    name: 'title',
    column: 'votes',
    what: 'votes',
    value: 'select count(*) from request_votes where request_id = requests.id',
  },
  {
    table: 'agents',
    name: 'agent_key',
    column: 'review_count',
    what: 'reviews',
    value: 'select count(*) from agent_reviews where agent_id = agents.id',
  },
  {
    table: 'agents',
    name: 'agent_key',
    column: 'install_count',
    what: 'installed skills',
    value: 'select count(*) from agent_skills where agent_id = agents.id',
  },
  {
    table: 'agent_reviews',
    name: 'id',
    column: 'helpful_count',
    what: 'helpful votes',
    value: 'select count(*) from agent_review_votes where review_id = agent_reviews.id',
  },
]

const rowsMax = 100
const pageRows = 500

/** Compares counters with the counted rows. Downloads cannot be checked, since single downloads are not stored. */
export const countersCheck: Check = {
  name: 'counters',
  async run({ database }, _tell, faults) {
    for (const { table, name, column, what, value } of counters) {
      const right = sql<number>`(${sql.raw(value)})`
      const { rows } = await sql<{ subject: string; stored: number; counted: number }>`
        select ${sql.ref(name)} as subject, ${sql.ref(column)} as stored, ${right} as counted from ${sql.table(table)}
        where ${sql.ref(column)} <> ${right} limit ${sql.lit(rowsMax)}`.execute(database.read)
      for (const { subject, stored, counted } of rows) {
        faults.add(`The stored number of ${what} of ${subject} is ${stored}; the correct number is ${counted}.`)
      }
    }
    await checkTrust(database, faults)
    return faults.toOutcome('All counters of stars, installs, votes and reviews are correct.')
  },
  async repair({ database }) {
    await database.writer.write(async (trx) => {
      for (const { table, column, value } of counters) {
        const right = sql`(${sql.raw(value)})`
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${right}
          where ${sql.ref(column)} <> ${right}`.execute(trx)
      }
    })
    for await (const agents of readAgents(database)) {
      const wrong = agents.filter((agent) => agent.trust_score !== toTrustScore(agent)).map(({ id }) => id)
      if (wrong.length > 0) await database.writer.write((trx) => repairTrust(trx, wrong))
    }
  },
}

/** The agents are read in the writing transaction, because an agent may act between a read and a write. */
async function repairTrust(trx: WriteTransaction, ids: readonly string[]): Promise<void> {
  for (const agent of await selectAgents(trx).where('id', 'in', ids).execute()) {
    await settleTrust(trx, agent)
  }
}

async function checkTrust(database: CatalogueContext['database'], faults: Faults): Promise<void> {
  for await (const agents of readAgents(database)) {
    for (const agent of agents) {
      const right = toTrustScore(agent)
      if (agent.trust_score === right) continue
      faults.add(`The stored trust score of ${agent.agent_key} is ${agent.trust_score}; the correct score is ${right}.`)
    }
  }
}

function readAgents({ read }: CatalogueContext['database']) {
  const page = (after: string) => selectAgents(read).where('id', '>', after).orderBy('id').limit(pageRows).execute()
  return readPages('', page, ({ id }) => id)
}

function selectAgents(db: CatalogueContext['database']['read']) {
  const columns = trustTable.map(({ counter }) => counter)
  return db.selectFrom('agents').select(['id', 'agent_key', 'trust_score', ...columns])
}
