/**
 * Where the code of a thread of this package lies, by its path without the ending, as in `scan/scan-worker`: the source
 * runs as it is; what is published has been compiled.
 */
export function toThreadFile(thread: `${string}-worker`): URL {
  return new URL(`./${thread}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
}
