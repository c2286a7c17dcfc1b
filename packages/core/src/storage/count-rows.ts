import { sql } from 'kysely'

/** Counts the rows of a query. */
export async function countRows(query: { select(count: unknown): unknown }): Promise<number> {
  const counted = query.select(sql<number>`count(*)`.as('count')) as {
    executeTakeFirstOrThrow(): Promise<{ count: number }>
  }
  return (await counted.executeTakeFirstOrThrow()).count
}
