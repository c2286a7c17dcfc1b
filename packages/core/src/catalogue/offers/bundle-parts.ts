import { setImmediate } from 'node:timers/promises'
import type { LogContext } from '../../log/log-context.ts'
import { readFrontier } from '../../log/log-proofs.ts'
import { readerOf } from '../../log/log-tree.ts'
import { openBlobs } from '../../storage/read-blobs.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { createQuarantineCheck } from '../versions/version-files.ts'
import { publicCondition } from '../../visibility/conditions.ts'

/** A log entry as the exact text that the log's hashes cover. */
export interface LogText {
  readonly seq: number
  readonly type: string
  /** The text of the entry: canonical JSON. */
  readonly entry: string
}

/** A range of log entries: the first is number `after + 1`, the last is number `until`. */
export interface LogRange {
  readonly after: number
  readonly until: number
}

/** Entries per query. An entry may have up to 64 KiB. */
const logTextsMax = 100

/** The entries of this node's own log, in batches. */
export function readLogTexts({ database }: Pick<CatalogueContext, 'database'>, range: LogRange) {
  return readLogInBatches('this node', range, ({ after, until }) =>
    database.read
      .selectFrom('log')
      .select(['seq', 'type', 'entry'])
      .where('seq', '>', after)
      .where('seq', '<=', until)
      .orderBy('seq')
      .execute(),
  )
}

/** The entries of a log, in batches of bounded size. Throws if an entry is missing. */
export async function* readLogInBatches(
  owner: string,
  { after, until }: LogRange,
  read: (range: LogRange) => Promise<LogText[]>,
): AsyncGenerator<LogText[]> {
  for (let at = after; at < until;) {
    const rows = await read({ after: at, until: Math.min(until, at + logTextsMax) })
    if (rows.length === 0)
      throw new Error(`The log of ${owner} is damaged: entry ${at + 1} is missing. Run \`skillstead doctor\`.`)
    yield rows
    at = rows.at(-1)!.seq
    // SQLite queries block the event loop: let other requests run between batches.
    await setImmediate()
  }
}

/** The roots of the complete subtrees of this node's log at `size` entries, 32 bytes each, largest first. */
export function readLogFrontier(context: LogContext, size: number): Promise<Buffer[]> {
  return readFrontier(readerOf(context), size)
}

/** A version that everyone may read, with the facts about its skill that are not in the log. */
export interface PublicVersion {
  readonly id: string
  readonly skillId: string
  readonly fullName: string
  readonly version: string
  readonly digest: string
  readonly securityScore: number | null
  readonly isVerified: boolean
}

/** The public, not quarantined versions with one of the given digests. */
export async function findPublicVersions({ database }: Pick<CatalogueContext, 'database'>, digests: readonly string[]) {
  if (digests.length === 0) return []
  const rows = await database.read
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select(['versions.id', 'versions.skill_id', 'versions.version', 'versions.digest'])
    .select(['skills.full_name', 'skills.security_score', 'skills.verified'])
    .where('versions.digest', 'in', digests)
    .where(publicCondition)
    .execute()
  const isQuarantined = createQuarantineCheck(database.read)
  const shown = []
  for (const row of rows) if (!(await isQuarantined(row.id))) shown.push(row)
  return shown.map(({ id, skill_id, full_name, version, digest, security_score, verified }) => ({
    id,
    skillId: skill_id,
    fullName: full_name,
    version,
    digest,
    securityScore: security_score,
    isVerified: verified === 1,
  }))
}

/** The contents with the given digests, all in memory at once. The caller must limit their total size. */
export async function readContents({ database }: Pick<CatalogueContext, 'database'>, digests: readonly string[]) {
  const rows = await database.read.selectFrom('blobs').selectAll().where('digest', 'in', digests).execute()
  return openBlobs(database, rows)
}
