import type { Kysely } from 'kysely'
import { rulesVersion } from '@skillstead/scanner/rules-version'
import type { Tables } from '../storage/tables.ts'

/** How far a walk through all versions has come: first those that are shown, then the others. */
export interface ScanCursor {
  readonly phase: 'latest' | 'rest' | 'done'
  /** The id behind which it goes on: of a skill, then of a version. */
  readonly after: string
  /** Scans that were made before are made again, in milliseconds since 1970. */
  readonly before: number
}

/** A version that has to be scanned. */
export interface WaitingVersion {
  readonly id: string
  readonly skillId: string
  readonly number: string
  /** Where the walk goes on behind it. */
  readonly cursor: string
}

/** The next versions without a scan by the rules of this program, and where the walk goes on after them. */
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
