/** The code of an error of the platform or of this API, such as `ENOENT` or `not_found`; undefined if it has none. */
export function readErrorCode(error: unknown): string | undefined {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? error.code : undefined
}
