import { isRecord } from '@skillstead/protocol'

/** Reads the value of a top-level key or, as `metadata.<key>`, of a key in `metadata`. */
export function readKeyValue(frontmatter: Record<string, unknown>, path: string): unknown {
  if (!path.startsWith('metadata.')) return readOwnProperty(frontmatter, path)
  const { metadata } = frontmatter
  return isRecord(metadata) ? readOwnProperty(metadata, path.slice('metadata.'.length)) : undefined
}

/** Reads an own property: never an inherited one such as `constructor`. */
export function readOwnProperty(mapping: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(mapping, key) ? mapping[key] : undefined
}

/** Whether a key has a value: neither null nor an empty text. */
export function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}
