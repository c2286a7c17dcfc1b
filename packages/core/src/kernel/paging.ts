/** Where a page begins, for `offset`. */
export function toOffset(page: number, limit: number): number {
  return Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER)
}

/** What every paged list says of itself; no pages at all of nothing. */
export function toPage(total: number, page: number, limit: number) {
  return { total, page, totalPages: Math.ceil(total / limit) }
}
