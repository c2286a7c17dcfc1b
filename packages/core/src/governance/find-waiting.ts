import type { Kysely } from 'kysely'
import { rulesVersion } from '@skillstead/scanner/rules-version'
import type { Tables } from '../storage/tables.ts'

/** The position of a walk through all versions: first the latest versions of skills, then all others. */
export interface ScanCursor {
  readonly phase: 'latest' | 'rest' | 'done'
  /** The id after which the walk continues: of a skill, then of a version. */
  readonly after: string
  /** Scans older than this are repeated, in milliseconds since 1970. */
  readonly before: number
}

/** A version to scan. */
export interface WaitingVersion {
  readonly id: string
  readonly skillId: string
  readonly number: string
  /** The position after it. */
  readonly cursor: string
}

/** The next versions without a scan by the current rules, and the position after them. */
export async function findWaiting(
  db: Kysely<Tables>,
  walk: ScanCursor,
  limit: number,
): Promise<{ found: WaitingVersion[]; next: Pick<ScanCursor, 'phase' | 'after'> }> {
  const cursor = walk.phase === 'latest' ? 'skills.id' : 'versions.id'
  const found = await db
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .leftJoin('scans', 'scans.version_id', 'versions.id')
    .select(['versions.id', 'versions.skill_id as skillId', 'versions.version as number', `${cursor} as cursor`])
    .$if(walk.phase === 'latest', (select) => select.whereRef('versions.version', '=', 'skills.latest_version'))
    .where((eb) =>
      eb.or([
        eb('scans.version_id', 'is', null),
        eb('scans.rules_version', '!=', rulesVersion),
        eb('scans.scanned_at', '<', walk.before),
      ]),
    )
    .where(cursor, '>', walk.after)
    .orderBy(cursor)
    .limit(limit)
    .execute()
  const last = found.length < limit ? undefined : found.at(-1)
  if (last) return { found, next: { phase: walk.phase, after: last.cursor } }
  return { found, next: { phase: walk.phase === 'latest' ? 'rest' : 'done', after: '' } }
}
