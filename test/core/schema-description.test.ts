import { partsOf } from '@skillstead/core/internal'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { tables } from '../../packages/core/src/storage/tables.ts'
import { readColumns } from '../../packages/maintenance/src/transfer/portable-columns.ts'
import { unlistedTables } from '../../packages/maintenance/src/transfer/portable-tables.ts'
import { upstreamTables } from '../../packages/mirror/src/tables/mirror-tables.ts'
import { describeDatabases } from '../support/harness.ts'

const described = { ...tables, ...upstreamTables }

const isUnlisted = (table: string) => unlistedTables.some((one) => table.startsWith(one))

describeDatabases('the description of the tables', (open, dialect) => {
  it('equals the schema that all migrations create', async () => {
    const { dialect: name, read } = partsOf((await open()).registry).database
    const { rows } = await (
      dialect === 'SQLite'
        ? sql<{ name: string }>`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`
        : sql<{ name: string }>`select table_name as name from information_schema.tables where table_schema = 'public'`
    ).execute(read)
    const found = await Promise.all(
      rows
        .filter((row) => !isUnlisted(row.name))
        .map(async (row) => [row.name, await readColumns(read, name, row.name)] as const),
    )
    const expected = Object.entries(described).map(
      ([table, columns]) =>
        [
          table,
          Object.entries<{ type: string; isOptional?: true }>(columns).map(
            ([column, { type, isOptional = false }]) => ({
              name: column,
              type,
              isNullable: isOptional,
            }),
          ),
        ] as const,
    )
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
  })
})
