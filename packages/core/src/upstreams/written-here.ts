import { toColumns } from '../catalogue/skill-settings.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { SkillEntry, VersionEntry } from './entry-data.ts'
import { toSettings } from './settle-source.ts'

/**
 * Whether a version of an upstream is one that a skill of this node has, to the byte: it was published here, and went
 * there from here.
 */
export async function isVersionHere(
  trx: WriteTransaction,
  skill: SkillRow,
  { version, digest }: { version: string; digest: string | null },
): Promise<boolean> {
  if (!isWrittenHere(skill)) return false
  const row = await trx
    .selectFrom('versions')
    .select('digest')
    .where('skill_id', '=', skill.id)
    .where('version', '=', version)
    .executeTakeFirst()
  return row !== undefined && row.digest === digest
}

/** Whether an entry tells of a skill of this node what is so already. */
export async function isToldHere(
  trx: WriteTransaction,
  skill: SkillRow,
  { type, data, entry }: VersionEntry | SkillEntry,
): Promise<boolean> {
  if (!isWrittenHere(skill)) return false
  if (type === 'version') return isVersionHere(trx, skill, { version: data.version, digest: entry.digest })
  const told = Object.entries(toColumns(toSettings(data)))
  return told.every(([column, value]) => skill[column as keyof SkillRow] === value)
}

/** Whether a skill's first version was published or imported on this node. */
export function isWrittenHere({ origin_kind: kind }: Pick<SkillRow, 'origin_kind'>): boolean {
  return kind === 'local' || kind === 'import'
}
