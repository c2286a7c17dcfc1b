import { toOffset, toPage } from '../kernel/paging.ts'
import { countRows } from './count-rows.ts'

/** A query whose rows are read page by page. */
interface Sorted<Row> {
  limit(count: number): { offset(count: number): { execute(): Promise<Row[]> } }
}

/**
 * One page of a sorted query with the paging fields of a list response. `all` selects the same rows without joins and
 * order, and is only counted.
 */
export async function readPage<Row>(
  all: Parameters<typeof countRows>[0],
  sorted: Sorted<Row>,
  { page, limit }: { page: number; limit: number },
) {
  const total = await countRows(all)
  const rows = await sorted.limit(limit).offset(toOffset(page, limit)).execute()
  return { rows, paging: toPage(total, page, limit) }
}
