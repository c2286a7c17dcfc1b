import { sql, type SqlBool } from 'kysely'
import type { KnownSkill } from './look-up.ts'

/** Whether a skill is known to be dangerous: an administrator said so. The verdict of a scan belongs here as well. */
export function isFlagged(skill: Pick<KnownSkill, 'moderation'>): boolean {
  return skill.moderation === 'flagged'
}

/** Whether a skill that everyone may see can be put in the place of another. */
export function isOffered(skill: KnownSkill): boolean {
  return skill.deprecated === 0 && !isFlagged(skill) && skill.latest_version !== ''
}

/** The same and that everyone may see it, for queries; without parameters, so that they can be kept. */
export const offered = sql<SqlBool>`skills.state = 'live' and skills.visibility = 'public' and skills.stub = 0
  and skills.deprecated = 0 and skills.moderation <> 'flagged' and skills.latest_version <> ''`
