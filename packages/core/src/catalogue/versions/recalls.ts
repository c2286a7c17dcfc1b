import { type Recall, type Recalled, RegistryError, toTimestamp } from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import { type Kysely, sql, type SqlBool } from 'kysely'
import { isSliceOver, nextSlice } from '../../kernel/time-slices.ts'
import { parseJson, type SkillRow, type Tables, type VersionRow } from '../../storage/tables.ts'
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

/** The recalls of a skill that its row stores, newest first: active recalls, and the newest ended recalls. */
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
  const recall = readParsed(skill.recalls).find(({ id }) => id === recalled_by)
  return recall ? { recalled: toRecalled(recall) } : {}
}

/** Parses recalls. Caches those of the last skill, because lists read them for each version of a skill in turn. */
function readParsed(recalls: string): readonly StoredRecall[] {
  if (parsed.recalls !== recalls) parsed = { recalls, value: readRecalls({ recalls }) }
  return parsed.value
}

let parsed: { readonly recalls: string; readonly value: readonly StoredRecall[] } = { recalls: '[]', value: [] }

/** The public form of a recall on a version. */
function toRecalled({ range, reason, at }: StoredRecall): Recalled {
  return { range, reason, at: toTimestamp(at) }
}

/** Throws `recalled` for a recalled version, unless the request allows recalled versions. */
export function refuseRecalled(
  skill: Pick<SkillRow, 'full_name' | 'recalls'>,
  version: Pick<VersionRow, 'version' | 'recalled_by'>,
  allowRecalled: boolean | undefined,
): void {
  if (version.recalled_by === null || allowRecalled) return
  // Details of the recall are missing if the skill was read before the recall.
  throw toRecalledError(`${skill.full_name}@${version.version}`, toRecalledField(skill, version).recalled)
}

/** The error for content that was recalled; `subject` is `owner/name@version`. */
export function toRecalledError(subject: string, recalled: Recalled | undefined): RegistryError {
  const advice = 'Do not use it; use another version.'
  if (!recalled) return new RegistryError('recalled', `${subject} was recalled. ${advice}`)
  const { range, reason, at } = recalled
  return new RegistryError(
    'recalled',
    `${subject} was recalled on ${at.slice(0, 10)} (range ${range}). ${advice} The reason that was given: "${reason}".`,
  )
}

/** The active recalls that cover a version, newest first. */
export function listCoveringRecalls(skill: Pick<SkillRow, 'recalls'>, version: string): StoredRecall[] {
  return readActiveRecalls(skill).filter((recall) => covers(recall, version))
}

/** The id of the newest active recall that covers a version; null if none does. */
export function findCoveringRecall(active: readonly StoredRecall[], version: string): string | null {
  return active.find((recall) => covers(recall, version))?.id ?? null
}

/** Whether a version is in the range of a recall. */
export function covers({ range }: Pick<StoredRecall, 'range'>, version: string): boolean {
  return parseVersionRange(range)?.includes(version) ?? false
}

/** Maximum versions that a recall lists in a response or an event. */
const shownMax = 100

/** The versions of a skill in the range of a recall, highest first, at most 100 of them, and their number. */
export async function toCovered(
  recall: Pick<StoredRecall, 'range'>,
  all: readonly string[],
): Promise<Pick<Recall, 'versions' | 'versionCount'>> {
  const versions: string[] = []
  for (const version of all) {
    if (isSliceOver()) await nextSlice()
    if (covers(recall, version)) versions.push(version)
  }
  return { versions: versions.slice(0, shownMax), versionCount: versions.length }
}

/** The form of a recall in responses and events. `all`: the numbers of the versions of its skill, highest first. */
export async function toShownRecall(recall: StoredRecall, all: readonly string[]) {
  const { id, endedAt } = recall
  return {
    id,
    ...toRecalled(recall),
    ...(endedAt !== undefined && { endedAt: toTimestamp(endedAt) }),
    ...(await toCovered(recall, all)),
  }
}

/** The numbers of the versions of a skill, or only of its recalled versions, highest first. */
export async function selectVersionNumbers(db: Kysely<Tables>, skillId: string, which?: 'recalled'): Promise<string[]> {
  const rows = await db
    .selectFrom('versions')
    .select('version')
    .where('skill_id', '=', skillId)
    .$if(which === 'recalled', (select) => select.where('recalled_by', 'is not', null))
    .orderBy('sort_key', 'desc')
    .execute()
  return rows.map(({ version }) => version)
}
