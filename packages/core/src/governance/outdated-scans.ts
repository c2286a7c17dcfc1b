import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Tables } from '../storage/tables.ts'

/** Skills or versions that one statement looks at, so that SQLite blocks the event loop for about 10 ms. */
const rangeRows = 500

/**
 * The position of a rescan in the list of all versions: first the latest versions of skills, then all other versions.
 */
interface ScanCursor {
  readonly phase: 'latest' | 'rest' | 'done'
  /** The rescan continues after this id: of a skill at first, then of a version. */
  readonly after: string
  /** Scans older than this are repeated, in milliseconds since 1970. */
  readonly before: number
}

/** The position of the rescan in the catalogue, as stored in `meta`. */
export interface Rescan extends ScanCursor {
  /** The version of the rules that the rescan applies. */
  readonly rules: string
}

/** A version without a scan by the current rules. */
export interface WaitingVersion {
  readonly id: string
  readonly skillId: string
  readonly number: string
  readonly digest: string
  /** Size of the content of the version, in bytes. */
  readonly size: number
  /** The position after this version. */
  readonly cursor: string
}

/**
 * The next versions without a scan by the current rules, and the position after them. The catalogue is read in ranges,
 * because SQLite blocks the event loop while it looks for versions.
 */
export async function findUnscannedVersions(
  db: Kysely<Tables>,
  walk: Rescan,
  limit: number,
): Promise<{ found: WaitingVersion[]; next: Pick<ScanCursor, 'phase' | 'after'> }> {
  for (let { after } = walk; ;) {
    const end = await findRangeEnd(db, walk.phase, after)
    const found = await selectUnscannedVersions(db, walk, { after, end }).limit(limit).execute()
    const last = found.length < limit ? end : found.at(-1)!.cursor
    if (last === undefined) return { found, next: { phase: walk.phase === 'latest' ? 'rest' : 'done', after: '' } }
    if (found.length > 0) return { found, next: { phase: walk.phase, after: last } }
    after = last
    await setImmediate()
  }
}

/** The id at which a range after another id ends; undefined if fewer rows follow. */
async function findRangeEnd(db: Kysely<Tables>, phase: Rescan['phase'], after: string): Promise<string | undefined> {
  const row = await db
    .selectFrom(phase === 'latest' ? 'skills' : 'versions')
    .select('id')
    .where('id', '>', after)
    .orderBy('id')
    .limit(1)
    .offset(rangeRows - 1)
    .executeTakeFirst()
  return row?.id
}

function selectUnscannedVersions(
  db: Kysely<Tables>,
  walk: Rescan,
  { after, end }: { readonly after: string; readonly end: string | undefined },
) {
  const cursor = walk.phase === 'latest' ? 'skills.id' : 'versions.id'
  return db
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .leftJoin('scans', 'scans.version_id', 'versions.id')
    .leftJoin('version_access', 'version_access.version_id', 'versions.id')
    .select(['versions.id', 'versions.skill_id as skillId', 'versions.version as number', `${cursor} as cursor`])
    .select(['versions.digest', 'versions.size'])
    .$if(walk.phase === 'latest', (select) => select.whereRef('versions.version', '=', 'skills.latest_version'))
    .where((eb) =>
      eb.or([
        eb('scans.version_id', 'is', null),
        eb.and([eb('version_access.version_id', 'is not', null), eb('outline', 'is', null)]),
        eb('scans.rules_version', '!=', walk.rules),
        eb('scans.scanned_at', '<', walk.before),
      ]),
    )
    .where(cursor, '>', after)
    .$if(end !== undefined, (select) => select.where(cursor, '<=', end!))
    .orderBy(cursor)
}
