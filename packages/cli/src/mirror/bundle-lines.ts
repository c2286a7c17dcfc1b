import type { BundleHeader } from '@skillstead/mirror'
import { toOneLine } from '../terminal/output.ts'

/** The header of a bundle as lines of text. */
export function toBundleLines(header: BundleHeader): string[] {
  const { origin, epoch, since, until, keys, maker, filters, createdAt, counts } = header
  const facts: [label: string, fact: string][] = [
    ['log', `${origin}, epoch ${epoch}`],
    ['entries', since === until ? `none after ${since}` : `${since + 1} to ${until}`],
    ['content', `${counts.complete} of ${counts.versions} versions, ${counts.blobs} files, ${toSize(counts.bytes)}`],
    ...Object.entries(filters).map(
      ([filter, value]) => ['only', `${filter} ${[value].flat().join(', ')}`] as [string, string],
    ),
    ['made', maker ? `${createdAt}, by ${maker.name}` : createdAt],
    ...keys.map((key) => ['key', key] as [string, string]),
  ]
  return facts.map(([label, fact]) => `  ${label.padEnd(9)}${toOneLine(fact)}`)
}

/** A size with its unit. */
export function toSize(bytes: number): string {
  if (bytes < 1e3) return `${bytes} bytes`
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
