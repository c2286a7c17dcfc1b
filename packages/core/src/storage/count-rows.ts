import { sql } from 'kysely'

/** How many rows a query finds. */
export async function countRows(query: { select(count: unknown): unknown }): Promise<number> {
  const counted = query.select(sql<number>`count(*)`.as('count')) as {
    executeTakeFirstOrThrow(): Promise<{ count: number }>
  }
  return (await counted.executeTakeFirstOrThrow()).count
}
