/** Reads the value of a top-level key or, as `metadata.<key>`, of a key in `metadata`. */
export function readKeyValue(frontmatter: Record<string, unknown>, path: string): unknown {
  if (!path.startsWith('metadata.')) return Object.hasOwn(frontmatter, path) ? frontmatter[path] : undefined
  const { metadata } = frontmatter
  const key = path.slice('metadata.'.length)
  if (typeof metadata !== 'object' || metadata === null || !Object.hasOwn(metadata, key)) return undefined
  return (metadata as Record<string, unknown>)[key]
}
