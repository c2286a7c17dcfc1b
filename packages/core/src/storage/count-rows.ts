import { sql } from 'kysely'

/** Counts the rows of a query, whatever it selects: PostgreSQL refuses a count with other columns. */
export async function countRows(query: { clearSelect(): { select(count: unknown): unknown } }): Promise<number> {
  const counted = query.clearSelect().select(sql<number>`count(*)`.as('count')) as {
    executeTakeFirstOrThrow(): Promise<{ count: number }>
  }
  return (await counted.executeTakeFirstOrThrow()).count
}
