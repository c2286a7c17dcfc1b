import type { LogDraft } from '../log.ts'
import type { PackRow } from '../storage/tables.ts'
import type { Member } from './members.ts'

/** What the public log tells of a change to a pack: the pack as everyone sees it now, or that it is gone. */
export function toPackEntries(before: PackRow | undefined, pack: PackRow, members: readonly Member[]): LogDraft[] {
  const was = before !== undefined && isPublicPack(before)
  if (!isPublicPack(pack)) return was ? [toEntry(pack, { withdrawn: true })] : []
  const skills = members
    .filter(({ isPublic }) => isPublic)
    .map(({ fullName, pinnedVersion, note }) => ({ fullName, pinnedVersion, note }))
  return [toEntry(pack, { withdrawn: false, name: pack.name, description: pack.description, skills })]
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
