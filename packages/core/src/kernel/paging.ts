/** Converts a page number to the `offset` of its first row. */
export function toOffset(page: number, limit: number): number {
  return Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER)
}

/** The paging fields of a list response. An empty list has 0 pages. */
export function toPage(total: number, page: number, limit: number) {
  return { total, page, totalPages: Math.ceil(total / limit) }
}
