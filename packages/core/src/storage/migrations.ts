import { sql, type Kysely } from 'kysely'
import type { Dialect } from './database.ts'
import { foundation } from './migrations/0001-foundation.ts'
import { community } from './migrations/0002-community.ts'
import { trust } from './migrations/0003-trust.ts'
import { usage } from './migrations/0004-usage.ts'
import { webhooks } from './migrations/0005-webhooks.ts'
import { scans } from './migrations/0006-scans.ts'
import { copies } from './migrations/0007-copies.ts'
import { access } from './migrations/0008-access.ts'
import { transparency } from './migrations/0009-transparency.ts'
import { provenance } from './migrations/0010-provenance.ts'
import { mirror } from './migrations/0011-mirror.ts'
import { dashboard } from './migrations/0012-dashboard.ts'
import { cluster } from './migrations/0013-cluster.ts'
import { invitations } from './migrations/0014-invitations.ts'
import { metadataScans } from './migrations/0015-metadata-scans.ts'
import { agentRatings } from './migrations/0016-agent-ratings.ts'
import { heldNames } from './migrations/0017-held-names.ts'
import { quarantinedVersions } from './migrations/0018-quarantined-versions.ts'
import type { Tables } from './tables.ts'

/** One step of the schema, never changed once released. */
export interface Migration {
  readonly name: string
  up(db: Kysely<Tables>, dialect: Dialect): Promise<void>
}

/** Any number that nobody else takes. */
const advisoryLock = 7_545_001

/** Forward only, in this order. */
const migrations: readonly Migration[] = [
  foundation,
  community,
  trust,
  usage,
  webhooks,
  scans,
  copies,
  access,
  transparency,
  provenance,
  mirror,
  dashboard,
  cluster,
  invitations,
  metadataScans,
  agentRatings,
  heldNames,
  quarantinedVersions,
]

/** The steps of the schema that this program knows, oldest first. */
export const migrationNames: readonly string[] = migrations.map(({ name }) => name)

/**
 * Brings a database up to the schema that this program knows, all at once: whatever ends it on the way leaves the database
 * as it was. Throws when the database was made by a newer program.
 * `until`: only as far as this step, for a database as an earlier program made it.
 */
export async function migrate(
  db: Kysely<Tables>,
  dialect: Dialect,
  { until = migrationNames.at(-1)! }: { until?: string } = {},
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // Where two nodes open an empty PostgreSQL at once, `if not exists` lets both try, and one of them fails.
    if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${advisoryLock})`.execute(trx)
    await sql`create table if not exists migrations (name text primary key, position integer not null)`.execute(trx)
    const applied = await findApplied(trx)
    refuseNewer(applied)
    const steps = migrations.slice(0, migrationNames.indexOf(until) + 1)
    for (const [position, migration] of steps.entries()) {
      if (applied.includes(migration.name)) continue
      await migration.up(trx, dialect)
      await sql`insert into migrations (name, position) values (${migration.name}, ${position})`.execute(trx)
    }
  })
}

async function findApplied(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from migrations order by position`.execute(db)
  return rows.map((row) => row.name)
}

function refuseNewer(applied: string[]): void {
  const unknown = applied.filter((name) => !migrations.some((migration) => migration.name === name))
  if (unknown.length > 0) {
    throw new Error(
      `The database was made by a newer Skillstead (it has ${unknown.join(', ')}). Update this program to open it.`,
    )
  }
}
