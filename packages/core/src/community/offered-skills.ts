import { sql, type SqlBool } from 'kysely'
import type { CommunityContext } from './community-context.ts'
import { safeScoreMin } from '@skillstead/scanner'
import { keepListQuery } from '../storage/list-query.ts'
import type { SkillRow } from '../storage/tables.ts'
import type { KnownSkill } from './look-up-installs.ts'

/** Whether an administrator flagged a skill. Scan verdicts are not considered. */
export function isFlagged(skill: Pick<KnownSkill, 'moderation'>): boolean {
  return skill.moderation === 'flagged'
}

/**
 * Whether a skill may be recommended or offered as a replacement: it is public, not deprecated or flagged, the scan of
 * its latest version and its score (which covers metadata) are `safe`, and no version is quarantined. Without
 * parameters, for cached queries.
 */
export const offered = sql<SqlBool>`skills.state = 'live' and skills.visibility = 'public' and skills.stub = 0
  and skills.deprecated = 0 and skills.moderation <> 'flagged' and skills.latest_version <> ''
  and skills.security_score >= ${sql.lit(safeScoreMin)}
  and exists (select 1 from versions join scans on scans.version_id = versions.id
    where versions.skill_id = skills.id and versions.version = skills.latest_version and scans.verdict = 'safe')
  and not exists (select 1 from held_versions where held_versions.full_name = skills.full_name)`

const selectOffered = keepListQuery<Pick<SkillRow, 'id' | 'full_name'>>((db, lists) =>
  db
    .selectFrom('skills')
    .select(['id', 'full_name'])
    .where(lists.has('id'))
    .where((eb) => eb.or([eb('forked_from', 'is', null), lists.lacks('owner_id')]))
    .where(offered),
)

/** The full names, by id, of skills that may be offered to these users; their own forks may not. */
export async function keepOffered(
  { database }: CommunityContext,
  skillIds: readonly string[],
  userIds: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const rows = skillIds.length > 0 ? await selectOffered(database, skillIds, userIds) : []
  return new Map(rows.map(({ id, full_name }) => [id, full_name]))
}
