/**
 * Resolves the file of a worker thread next to the module at `importMetaUrl`, by its name without the extension, such
 * as `scan-worker`. The sources run as `.ts`; the published packages are compiled to `.js`.
 */
export function toThreadFile(importMetaUrl: string, thread: `${string}-worker`): URL {
  return new URL(`./${thread}${importMetaUrl.endsWith('.ts') ? '.ts' : '.js'}`, importMetaUrl)
}
