import { RegistryError, type Recalled, toTimestamp } from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import { sql, type SqlBool } from 'kysely'
import { parseJson, type SkillRow, type VersionRow } from '../../storage/tables.ts'
import type { StoredRecall } from '../../storage/schema/catalogue-tables.ts'

export type { StoredRecall }

type Withdrawable = Pick<VersionRow, 'yanked' | 'recalled_by'>

/**
 * Whether a version is offered: it is neither yanked nor recalled. Everything that chooses a version for a caller uses
 * this rule, or {@link offeredVersion} in SQL.
 */
export function isOffered({ yanked, recalled_by }: Withdrawable): boolean {
  return yanked === 0 && recalled_by === null
}

/** {@link isOffered} as a condition on the table `versions`. */
export const offeredVersion = sql<SqlBool>`versions.yanked = 0 and versions.recalled_by is null`

/** The recalls of a skill that its row stores, newest first: active ones, and the ended ones among the newest. */
export function readRecalls({ recalls }: Pick<SkillRow, 'recalls'>): StoredRecall[] {
  return recalls === '[]' ? [] : parseJson(recalls)
}

/** The recalls that were not ended. */
export function readActiveRecalls(skill: Pick<SkillRow, 'recalls'>): StoredRecall[] {
  return readRecalls(skill).filter(({ endedAt }) => endedAt === undefined)
}

/** The field `recalled` of a version; nothing for a version that is not recalled. */
export function toRecalledField(
  skill: Pick<SkillRow, 'recalls'>,
  { recalled_by }: Pick<VersionRow, 'recalled_by'>,
): { recalled?: Recalled } {
  if (recalled_by === null) return {}
  const recall = readRecalls(skill).find(({ id }) => id === recalled_by)
  return recall ? { recalled: toRecalled(recall) } : {}
}

/** The public form of a recall on a version. */
function toRecalled({ range, reason, at }: StoredRecall): Recalled {
  return { range, reason, at: toTimestamp(at) }
}

/** Refuses the content of a recalled version with `recalled`, unless the caller asked for it in spite of the recall. */
export function refuseRecalled(
  skill: Pick<SkillRow, 'full_name' | 'recalls'>,
  version: Pick<VersionRow, 'version' | 'recalled_by'>,
  allowRecalled: boolean | undefined,
): void {
  const { recalled } = toRecalledField(skill, version)
  if (!recalled || allowRecalled) return
  throw toRecalledError(`${skill.full_name}@${version.version}`, recalled)
}

/** The error for content that was recalled; `subject` is `owner/name@version`. */
export function toRecalledError(subject: string, { range, reason, at }: Recalled): RegistryError {
  return new RegistryError(
    'recalled',
    `${subject} was recalled on ${at.slice(0, 10)} (range ${range}). Do not use it; use another version. ` +
      `The reason that was given: "${reason}". ` +
      'To read it all the same, send allowRecalled=true with its exact version.',
  )
}

/** The active recalls that cover a version, newest first. */
export function listCoveringRecalls(skill: Pick<SkillRow, 'recalls'>, version: string): StoredRecall[] {
  return readActiveRecalls(skill).filter(({ range }) => parseVersionRange(range)?.includes(version))
}

/** The id of the newest active recall that covers a version; null if none does. */
export function findCoveringRecall(active: readonly StoredRecall[], version: string): string | null {
  return active.find(({ range }) => parseVersionRange(range)?.includes(version))?.id ?? null
}
