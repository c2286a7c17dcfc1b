import { toColumns, type SkillRow, type WriteTransaction } from '@skillstead/core/internal'
import type { SkillEntry, VersionEntry } from './entry-data.ts'
import { wasSaid, type Relaying } from './relay-entries.ts'
import { toSettings } from './settle-source.ts'

/**
 * Whether a version of an upstream is one that a skill of this node has, to the byte: it was published here and went
 * there from here, or it came from there before its namespace was claimed. A release without a number is any version.
 */
export async function isVersionHere(
  trx: WriteTransaction,
  skill: SkillRow,
  { upstream, version, digest }: { upstream: string; version: string | undefined; digest: string | null },
): Promise<boolean> {
  if (!isWrittenHere(skill) && skill.origin_upstream !== upstream) return false
  const rows = await trx
    .selectFrom('versions')
    .select(['version', 'digest'])
    .where('skill_id', '=', skill.id)
    .where('digest', '=', digest)
    .execute()
  return version === undefined ? rows.length > 0 : rows.some((row) => row.version === version)
}

/** Whether an entry tells of a skill of this node what is so already, or what it told before the namespace was claimed. */
export async function isToldHere(
  trx: WriteTransaction,
  skill: SkillRow,
  { type, data, entry }: VersionEntry | SkillEntry,
  { upstream, relay }: Relaying,
): Promise<boolean> {
  if (type === 'version') return isVersionHere(trx, skill, { upstream, version: data.version, digest: entry.digest })
  if (skill.origin_upstream === upstream && (await wasSaid(trx, relay))) return true
  if (!isWrittenHere(skill)) return false
  const told = Object.entries(toColumns(toSettings(data)))
  return told.every(([column, value]) => skill[column as keyof SkillRow] === value)
}

/** Whether a skill's first version was published or imported on this node. */
export function isWrittenHere({ origin_kind: kind }: Pick<SkillRow, 'origin_kind'>): boolean {
  return kind === 'local' || kind === 'import'
}
