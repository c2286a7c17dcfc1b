import type { Registry } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** The trusted verifier keys of all upstreams. Their logs prove where mirrored versions come from. */
export async function readUpstreamKeys(registry: Registry): Promise<string[]> {
  const { database } = partsOf(registry)
  const rows = await withUpstreams(database.read).selectFrom('upstreams').select('keys').execute()
  return rows.flatMap(({ keys }) => JSON.parse(keys) as string[])
}
