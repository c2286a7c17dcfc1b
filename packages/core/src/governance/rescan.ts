import { RegistryError } from '@skillstead/protocol'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Outline } from '@skillstead/scanner'
import { findGitProblems } from '@skillstead/skill-format/archives'
import { markYanked } from '../catalogue/skills/change-skill.ts'
import { findMeta, putMeta } from '../storage/meta.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import { putOutline, putScan, type StoredScan, toStoredScan } from '../catalogue/versions/inspection.ts'
import { inspectStored } from '../catalogue/inspecting/inspect-packages.ts'
import { refreshSkill } from '../catalogue/skills/refresh-skill.ts'
import { selectListedVersions } from '../catalogue/versions/skill-document.ts'
import { findBaseline } from '../catalogue/versions/version-changes.ts'
import { readFileRows, readPackageFiles } from '../catalogue/versions/version-files.ts'
import { systemCaller } from '../kernel/caller.ts'
import { minuteMs } from '../kernel/clock.ts'
import { recordAudit } from '../log/audit.ts'
import { countRows } from '../storage/count-rows.ts'
import type { Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { GovernanceContext } from './governance-context.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { addRow } from '../storage/table-rows.ts'
import { isDeepStrictEqual } from 'node:util'

const topic = 'security.rescan'
const metaKey = 'rescan'
const retryDelaysMs = [minuteMs, 5 * minuteMs, 30 * minuteMs]
/** Versions per batch. Results are stored after each batch. */
const batchVersions = 25
const batchMs = 200
/**
 * Delay between the installation of a bundle of rules and the rescan: other nodes load the bundle within about a
 * second.
 */
const loadingMs = 5000
/** While the node serves requests, a rescan pauses for this multiple of the time that it worked. */
const restTimes = 4

/**
 * Rescans the whole catalogue if the rules changed since the last rescan, in batches from the outbox, latest versions
 * first. The rescan continues after a restart.
 */
export async function scheduleRescan(context: CatalogueContext): Promise<void> {
  context.outbox.handle(topic, {
    retryDelaysMs,
    handle: () => rescanBatch(context),
    async afterwards(trx, ended) {
      const walk = await readRescan(trx)
      if (walk?.phase === 'done') return
      const isFailed = ended.some(({ state }) => state === 'failed')
      // If the rescan applies other rules than those of this node, nodes with these rules run it and need this outbox
      // row.
      const isOurs = walk?.rules === context.scanRules.version
      await enqueueRescan(context, trx, isFailed ? 60 * minuteMs : isOurs ? 0 : minuteMs)
    },
  })
  await rescanByNewRules(context)
}

/** Starts a rescan if the rules changed since the last one. */
export async function rescanByNewRules(context: CatalogueContext): Promise<void> {
  await context.database.writer.write(async (trx) => {
    if ((await readRescan(trx))?.rules !== context.scanRules.version) await beginRescan(context, trx, { before: 0 })
  })
}

/** POST /scans, for administrators: rescans all versions, even with unchanged rules. */
export const startRescan: Operation<'startRescan', CatalogueContext> = async (context, _input, caller) => {
  const at = context.clock.now()
  return context.database.writer.write(async (trx) => {
    await beginRescan(context, trx, { before: at })
    await recordAudit(trx, { caller, action: 'scans.start', subject: '', at })
    return { waiting: await countRows(trx.selectFrom('versions')) }
  })
}

/** The number of versions without a scan by the current rules. */
export async function countUnscanned({ database, scanRules }: Pick<GovernanceContext, 'database' | 'scanRules'>) {
  const scanned = database.read.selectFrom('scans').where('rules_version', '=', scanRules.version)
  return (await countRows(database.read.selectFrom('versions'))) - (await countRows(scanned))
}

/** Rescans all versions with the rules whose version is `rules`, after a delay in which all nodes load these rules. */
export async function rescanWith(context: CatalogueContext, trx: WriteTransaction, rules: string): Promise<void> {
  await beginRescan(context, trx, { before: 0, rules, delayMs: loadingMs })
}

/** Starts a rescan of the versions that have no scan by `rules`, or whose scan is older than `before`. */
async function beginRescan(
  context: CatalogueContext,
  trx: WriteTransaction,
  {
    before,
    rules = context.scanRules.version,
    delayMs = 0,
  }: { readonly before: number; readonly rules?: string; readonly delayMs?: number },
): Promise<void> {
  const isAny = await trx.selectFrom('versions').select('id').limit(1).executeTakeFirst()
  await putRescan(trx, { rules, before, phase: isAny ? 'latest' : 'done', after: '' })
  if (isAny) await enqueueRescan(context, trx, delayMs)
}

function enqueueRescan(context: CatalogueContext, trx: WriteTransaction, delayMs: number): Promise<void> {
  return context.outbox.enqueue(trx, {
    topic,
    payload: {},
    uniqueKey: topic,
    dueAt: context.clock.now() + delayMs,
  })
}

async function rescanBatch(context: CatalogueContext): Promise<void> {
  const walk = await readRescan(context.database.read)
  if (!walk || walk.phase === 'done') return
  // Another process may just have installed the rules of the rescan.
  if (walk.rules !== context.scanRules.version) await context.changes.catchUp()
  if (walk.rules !== context.scanRules.version) return
  const { found, next } = await findUnscannedVersions(context.database.read, walk, batchVersions)
  const scans = await rescanAll(context, found)
  // If the batch was stopped early, the next batch starts after the last scanned version.
  const isCut = scans.length < found.length
  const after = isCut ? { phase: walk.phase, after: scans.at(-1)?.version.cursor ?? walk.after } : next
  await context.database.writer.write(async (trx) => {
    for (const { version, scan, outline, isQuarantined } of scans) {
      if (scan && outline) await replaceScan(context, trx, version, { scan, outline })
      if (isQuarantined) await quarantineRescanned(context, trx, version)
    }
    // If the rescan was restarted meanwhile, leave its position at the start.
    if (isDeepStrictEqual(await readRescan(trx), walk)) await putRescan(trx, { ...walk, ...after })
  })
}

interface RescannedVersion {
  readonly version: WaitingVersion
  /** Undefined if the content cannot be read; `skillstead doctor` reports such versions. */
  readonly scan: StoredScan | undefined
  readonly outline?: Outline
  /** Whether the version has paths that are refused now, because git would use them as a repository. */
  readonly isQuarantined: boolean
}

/** Scans as many versions as the time of one batch allows. */
async function rescanAll(context: CatalogueContext, versions: readonly WaitingVersion[]): Promise<RescannedVersion[]> {
  const scans: RescannedVersion[] = []
  let workedMs = 0
  for (const version of versions) {
    if (context.closing.aborted || workedMs > batchMs) break
    const { calls } = context.traffic
    const startedMs = performance.now()
    const scanned = await rescanVersion(context, version)
    if (!scanned) break
    scans.push({ version, ...scanned })
    const spentMs = performance.now() - startedMs
    workedMs += spentMs
    await setImmediate()
    const isBusy = context.traffic.calls !== calls
    const pause = { signal: context.closing, ref: false }
    if (isBusy) await setTimeout(spentMs * restTimes, undefined, pause).catch(() => {})
  }
  return scans
}

/** Scans a version again. Returns undefined if the node is stopping and cannot read content any more. */
async function rescanVersion(
  context: CatalogueContext,
  { id, digest, size }: WaitingVersion,
): Promise<Omit<RescannedVersion, 'version'> | undefined> {
  const { read } = context.database
  const paths = (await readFileRows(read, id)).map(({ path }) => path)
  const isQuarantined = findGitProblems(paths).length > 0
  const files = await readPackageFiles(context.database, id).catch((error: unknown) => {
    // While the bucket of large files is unavailable, the batch fails and is repeated: no version is left out.
    if (error instanceof RegistryError) throw error
    return undefined
  })
  if (context.closing.aborted) return undefined
  if (!files) return { scan: undefined, isQuarantined }
  const { scan, outline } = await inspectStored(context, { digest, size, sources: files })
  return { scan: toStoredScan(scan), outline, isQuarantined }
}

/**
 * Stores the new scan of a version, and refreshes the skill if its public form shows this version: the form shows the
 * scan of the latest version, and how it compares with the scan of the baseline of this version.
 */
async function replaceScan(
  context: CatalogueContext,
  trx: WriteTransaction,
  version: WaitingVersion,
  { scan, outline }: { scan: StoredScan; outline: Outline },
) {
  const { id: versionId, skillId } = version
  await putScan(trx, { skillId, versionId, scan })
  await putOutline(trx, versionId, outline)
  const before = await trx.selectFrom('skills').selectAll().where('id', '=', skillId).executeTakeFirstOrThrow()
  const versions = await selectListedVersions(trx, { skillId })
  const latest = versions.find(({ version: number }) => number === before.latest_version)
  const shown = latest && [latest.version, findBaseline(versions, latest)?.version]
  if (!shown?.includes(version.number)) return
  await refreshSkill(context, trx, { skillId, before, cause: { type: 'judgement' }, at: context.clock.now() })
}

/**
 * Quarantines a published version. Also yanks it, so that clients of a mirror of this node do not install it by
 * default.
 */
async function quarantineRescanned(
  context: CatalogueContext,
  trx: WriteTransaction,
  { id: versionId, skillId, number }: WaitingVersion,
) {
  const before = await trx.selectFrom('skills').selectAll().where('id', '=', skillId).executeTakeFirstOrThrow()
  const at = context.clock.now()
  await addRow(trx, 'quarantined_versions', { version_id: versionId, quarantined_at: at })
  if (!(await markYanked(trx, versionId, true))) return
  await refreshSkill(context, trx, { skillId, before, cause: { type: 'yank', versionId }, at })
  const subject = `${before.full_name}@${number}`
  await recordAudit(trx, { caller: systemCaller, action: 'version.quarantine', subject, at })
}

async function readRescan(db: Kysely<Tables>): Promise<Rescan | undefined> {
  const stored = await findMeta(db, metaKey)
  return stored === undefined ? undefined : JSON.parse(stored)
}

async function putRescan(trx: WriteTransaction, walk: Rescan): Promise<void> {
  await putMeta(trx, metaKey, JSON.stringify(walk))
}

/** Number of skills or versions that one statement looks at, so that SQLite blocks the event loop for about 10 ms. */
const rangeRows = 500

/**
 * The position of a rescan in the list of all versions: first the latest versions of skills, then all other versions.
 */
interface ScanCursor {
  readonly phase: 'latest' | 'rest' | 'done'
  /** The rescan continues after this id: of a skill in the phase `latest`, of a version in the phase `rest`. */
  readonly after: string
  /** Scans older than this are repeated, in milliseconds since 1970. */
  readonly before: number
}

/** The position of the rescan in the catalogue, as stored in `meta`. */
interface Rescan extends ScanCursor {
  /** The version of the rules that the rescan applies. */
  readonly rules: string
}

/** A version that the rescan has to scan again. */
interface WaitingVersion {
  readonly id: string
  readonly skillId: string
  readonly number: string
  readonly digest: string
  /** Size of the content of the version, in bytes. */
  readonly size: number
  /** The id after which the rescan continues once this version is scanned; see `after` in {@link ScanCursor}. */
  readonly cursor: string
}

/**
 * The next versions that the rescan has to scan, and the position after them. The catalogue is read in ranges, because
 * SQLite blocks the event loop while it looks for versions.
 */
async function findUnscannedVersions(
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

/** The last id of the next `rangeRows` rows after the id `after`; undefined if fewer rows follow. */
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
