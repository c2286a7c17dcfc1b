import { createAccountTables } from './accounts-tables.ts'
import { createCatalogueTables } from './catalogue-tables.ts'
import { createClusterTables } from './cluster-tables.ts'
import { createCommunityTables } from './community-tables.ts'
import { createGovernanceTables } from './governance-tables.ts'
import { createLogTables } from './log-tables.ts'
import type { Migration } from './migration.ts'
import { createSchema } from './schema.ts'
import { createTextIndex } from './text-index-tables.ts'
import { createUsageTables } from './usage-tables.ts'
import { createWebhookTables } from './webhooks-tables.ts'

/** The schema of the first release. PostgreSQL needs a table before the tables that refer to it, so the order matters. */
export const baseline: Migration = {
  name: '0001-baseline',
  async up(db, dialect) {
    const schema = createSchema(db, dialect)
    await createAccountTables(schema)
    await createCatalogueTables(schema)
    await createTextIndex(db, dialect)
    await createLogTables(schema)
    await createCommunityTables(schema)
    await createUsageTables(schema)
    await createGovernanceTables(schema)
    await createWebhookTables(schema)
    if (dialect === 'postgres') await createClusterTables(db)
    await db.insertInto('heads').values({ id: 1, change_seq: 0, log_seq: 0 }).execute()
  },
}
