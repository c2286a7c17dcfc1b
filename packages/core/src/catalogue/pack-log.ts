import type { LogDraft } from '../log/append-change.ts'
import type { PackRow } from '../storage/tables.ts'
import { jsonBytes } from '../log/entry-text.ts'
import type { Member } from './pack-members.ts'

/**
 * Bytes of a pack's skill list per log entry, which leaves room for its other fields. A long list takes several
 * entries.
 */
const partBytesMax = 32_768

/** The public log entries for a change of a pack: its current public state, or its withdrawal. */
export function toPackEntries(before: PackRow | undefined, pack: PackRow, members: readonly Member[]): LogDraft[] {
  const was = before !== undefined && isPublicPack(before)
  if (!isPublicPack(pack)) return was ? [toEntry(pack, { withdrawn: true })] : []
  const skills = members
    .filter(({ isPublic }) => isPublic)
    .map(({ fullName, pinnedVersion, note }) => ({ fullName, pinnedVersion, note }))
  const parts = toParts(skills)
  const { name, description } = pack
  // The first part starts a new list; the others append to it.
  return parts.map((some, i) =>
    toEntry(pack, {
      withdrawn: false,
      name,
      description,
      skills: some,
      ...(parts.length > 1 && { part: { number: i + 1, of: parts.length } }),
    }),
  )
}

function toParts<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = [[]]
  let bytes = 0
  for (const item of items) {
    bytes += jsonBytes(item) + 1
    if (bytes > partBytesMax && parts.at(-1)!.length > 0) {
      parts.push([])
      bytes = jsonBytes(item) + 1
    }
    parts.at(-1)!.push(item)
  }
  return parts
}

function isPublicPack(pack: PackRow): boolean {
  return pack.visibility === 'public' && pack.state === 'live'
}

function toEntry(pack: PackRow, data: Record<string, unknown>): LogDraft {
  const curator = { id: pack.curator_id, username: pack.curator }
  return {
    type: 'pack',
    subject: pack.slug,
    digest: null,
    data: { pack: { id: pack.id, slug: pack.slug }, curator, ...data },
  }
}
