import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { RegistryError, scopes, type PlanName } from '@skillstead/protocol'
import { createAuthenticator } from './accounts/authenticate.ts'
import { createAddressLimits } from './accounts/address-limits.ts'
import { createResponseCache } from './kernel/response-cache.ts'
import type { UserCaller } from './kernel/caller.ts'
import { createChangeFollower } from './log/change-follower.ts'
import { systemClock, type Clock } from './kernel/clock.ts'
import type { OperatorContext } from './operator/operator-context.ts'
import type { WebhookOptions } from './webhooks/webhooks-context.ts'
import { createCopyIndex } from './catalogue/copy-index.ts'
import { scheduleSketches } from './catalogue/sketch-versions.ts'
import { createCounters } from './community/download-counters.ts'
import { createArtifacts } from './catalogue/discovery-artifacts.ts'
import { scheduleTakedowns } from './governance/restore-case.ts'
import { handleExternalScans } from './community/scan-indexed-external.ts'
import { scheduleHousekeeping } from './operator/housekeeping.ts'
import { beginIdempotent, finishIdempotent, type IdempotentClaim, type KeptAnswer } from './accounts/idempotency.ts'
import { readIdentity, type Identity } from './log/node-identity.ts'
import { connectExtensions, type RegistryExtension } from './operator/extension.ts'
import { createUpstreams } from './catalogue/upstream-port.ts'
import { createServingNode } from './operator/node-port.ts'
import { readBackupMetrics, requireFile, scheduleBackups, type BackupPlan } from './operator/scheduled-backups.ts'
import { createSetupCode } from './operator/setup-code.ts'
import { answersQueries, readNodeMetrics, readOrNothing, readStoredMetrics, type Metric } from './operator/metrics.ts'
import { createOutbox } from './outbox/create-outbox.ts'
import { createOutgoing } from './http/create-outgoing.ts'
import type { OutgoingOptions } from './http/outgoing.ts'
import { createCatalogueSearch } from './search/catalogue-search.ts'
import { createSecrets } from './kernel/secrets.ts'
import { createSharedLimits } from './accounts/shared-limits.ts'
import type { ScanPolicy } from './catalogue/scan-policy.ts'
import { createPublicNames } from './catalogue/public-names.ts'
import { openDatabase, type Database, type DatabaseLocation } from './storage/database.ts'
import { storageQuotaBytesDefault } from './catalogue/storage-quota.ts'
import { createSeenDownloads } from './community/seen-downloads.ts'
import { createTelemetry } from './community/telemetry.ts'
import { ensureSigningKey } from './log/signing-keys.ts'
import { isNoteName } from './log/signed-notes.ts'
import { createTransparency } from './log/transparency.ts'
import { scheduleRescan } from './governance/rescan.ts'
import { handleVerifications } from './accounts/verification-check.ts'
import { attributeVersion } from './community/attribute-version.ts'
import { refreshStanding } from './community/author-standings.ts'
import { changeStanding, creditSkill, recountCredit } from './community/skill-credit.ts'
import { handleVerifiedSkills, refreshVerifiedSkills } from './catalogue/refresh-verified.ts'
import { handleDeliveries } from './webhooks/deliver-events.ts'
import { createEvents } from './webhooks/events.ts'
import { createWatchers } from './webhooks/download-watchers.ts'

export interface RegistryOptions extends DatabaseLocation {
  /** Where the time comes from; the system's clock unless a test says otherwise. */
  readonly clock?: Clock
  /**
   * How the node calls itself in its feed and log, such as its host; an id of its own unless it is said. The database
   * keeps it, and refuses another one as soon as the log has entries.
   */
  readonly origin?: string
  /** Catalogues of more skills than this are searched in the database instead of in memory. 0: always. */
  readonly memorySkillsMax?: number
  /** How many bytes of answers are kept ready to send; 0 builds every answer anew. 24 MiB unless it is said. */
  readonly answerBytesMax?: number
  /**
   * How often changes of other processes are looked for, in milliseconds, also while PostgreSQL gives notice of them. A
   * second unless it is said.
   */
  readonly pollMs?: number
  /** Whether this process takes work from the outbox. True unless a short command says otherwise. */
  readonly works?: boolean
  /** What may be reached outside: public addresses unless it is said. */
  readonly outgoing?: OutgoingOptions
  readonly webhooks?: WebhookOptions
  /** The plan of new users where no administrator names another. Default: free. */
  readonly defaultPlan?: PlanName
  /** What is done with versions that a scan has something against: they are published with warnings unless it is said. */
  readonly scanPolicy?: ScanPolicy
  /** How much each user on the free plan may store, in bytes; 0 for any amount. Default: 1 GiB. */
  readonly storageQuotaBytes?: number
  /** Copies the SQLite file into `backups` beside it by itself; never unless it is said. */
  readonly backups?: BackupPlan
  /** 32 bytes that API keys for upstreams are sealed with; without them none can be stored. */
  readonly secretKey?: Uint8Array
  /** Packages that add to the registry, such as `mirrorExtension` of `@skillstead/mirror`. Default: none. */
  readonly extensions?: readonly RegistryExtension[]
  /** Told of errors that no caller is there to hear. */
  readonly onError?: (error: unknown) => void
}

/** An open registry: everything that Skillstead does, without a network. */
export interface Registry extends OperatorContext {
  /** Who holds a key; throws `unauthorized`. */
  authenticate(key: string): Promise<UserCaller>
  /** Who holds a session; throws `unauthorized`. */
  authenticateSession(token: string): Promise<UserCaller>
  /** A user as a caller, for code that runs inside the process and is trusted. Throws `not_found`. */
  getCaller(username: string): Promise<UserCaller>
  beginIdempotent(caller: UserCaller, key: string, bodyHash: string): ReturnType<typeof beginIdempotent>
  finishIdempotent(caller: UserCaller, key: string, claim: IdempotentClaim, answer: KeptAnswer | null): Promise<void>
  readiness(): Promise<{ database: boolean; search: boolean; disk: boolean }>
  metrics(): Promise<Metric[]>
  /** Adds figures of what works on the registry from outside, such as a mirror. */
  addMetrics(read: () => Promise<Metric[]>): void
  /** The extensions that the registry was opened with. */
  readonly extensions: readonly RegistryExtension[]
  /** Ends long polls, for a node that shuts down: whoever waits gets what there is. */
  endWaits(): void
  /** Ends what is running, writes what is gathered, closes the database. */
  close(): Promise<void>
}

const reputation = { changeStanding, creditSkill, recountCredit }
const answerBytesMax = 24 * 1024 * 1024
const memorySkillsMax = 60_000
/** Below this a disk is as good as full: SQLite needs room for its journal. */
const diskBytesMin = 64 * 1024 * 1024

/**
 * Opens a registry on an SQLite file or a PostgreSQL database, and makes one where there is none.
 *
 * @example
 * const registry = await openRegistry({ path: 'skills.db' })
 * const { skills } = await localApi(registry).searchSkills({ q: 'pdf' })
 * await registry.close()
 */
export async function openRegistry(options: RegistryOptions): Promise<Registry> {
  if (options.origin !== undefined && !isNoteName(options.origin)) {
    throw new TypeError('An `origin` is a name without spaces and plus signs, such as registry.example.com.')
  }
  const { extensions = [] } = options
  const clock = options.clock ?? systemClock
  const onError = options.onError ?? ((error) => console.error(error))
  const secrets = createSecrets(options.secretKey)
  const outgoing = createOutgoing(options.outgoing ?? {})
  requireFile(options, options.backups)
  const database = await openDatabase(options)
  const { origin, epoch } = await identify(database, options.origin, clock)
  const changes = await createChangeFollower(database, onError, options.pollMs)
  const traffic = { calls: 0 }
  const outbox = createOutbox({ database, clock, traffic, onError })
  const { upstreamQueue, upstreamLogs } = connectExtensions(extensions, { clock, outbox })
  const watchers = await createWatchers(database, changes)
  const counting = { database, clock, outbox, watchers, upstreamQueue, onError }
  const sharedLimits = createSharedLimits(database, onError)
  const counters = createCounters(counting, createSeenDownloads(sharedLimits))
  const telemetry = createTelemetry(counting)
  const answers = createResponseCache(options.answerBytesMax ?? answerBytesMax)
  const authenticator = createAuthenticator(database, clock, onError)
  changes.follow((batch) => batch.forEach(({ subject }) => answers.forget(subject)), answers.forgetAll)
  const search = createCatalogueSearch(database, changes, {
    memorySkillsMax: options.memorySkillsMax ?? memorySkillsMax,
    onError,
  })
  const copies = createCopyIndex(database, onError)
  const closing = new AbortController()
  const waits = new AbortController()
  const context: OperatorContext = {
    origin,
    epoch,
    clock,
    database,
    changes,
    counters,
    outbox,
    events: createEvents(outbox, clock),
    reputation,
    agents: { attributeVersion },
    upstreamQueue,
    upstreamLogs,
    async onVerificationChange(trx, userId, at) {
      await refreshStanding(trx, userId, at)
      await refreshVerifiedSkills(context, trx, userId)
    },
    search,
    copies,
    answers,
    artifacts: createArtifacts(database),
    publicNames: createPublicNames(changes),
    telemetry,
    transparency: createTransparency(),
    outgoing,
    traffic,
    addressLimits: createAddressLimits(sharedLimits),
    sharedLimits,
    webhooks: options.webhooks ?? {},
    defaultPlan: options.defaultPlan ?? 'free',
    scanPolicy: options.scanPolicy ?? {},
    storageQuotaBytes: options.storageQuotaBytes ?? storageQuotaBytesDefault,
    backupPlan: options.backups,
    upstreams: createUpstreams(),
    node: createServingNode(),
    setup: createSetupCode(database),
    startedAt: clock.now(),
    secrets,
    closing: closing.signal,
    waits: waits.signal,
  }
  const metricReaders = [() => readStoredMetrics(context), () => readBackupMetrics(context)]
  let closed: Promise<void> | undefined

  async function close(): Promise<void> {
    closing.abort()
    waits.abort()
    search.stop()
    await search.warmed
    // Together: nothing more begins, and a host that does not answer holds nobody up.
    await Promise.all([outbox.stop(), outgoing.close()])
    await counters.stop()
    await telemetry.stop()
    await authenticator.flush()
    await copies.stop()
    await changes.stop()
    sharedLimits?.stop()
    await database.close()
  }

  async function beginWork(): Promise<void> {
    await context.setup.share()
    await scheduleHousekeeping(context)
    scheduleTakedowns(context)
    handleVerifiedSkills(context)
    // Offline they are left where they are, untried: whoever opens the registry with a way out does them.
    if (!outgoing.isOffline) {
      handleVerifications(context)
      handleExternalScans(context)
      handleDeliveries(context)
    }
    await scheduleRescan(context)
    await scheduleSketches(context)
    await scheduleBackups(context, onError)
    outbox.start()
    // What a process recorded that ended before it counted.
    await telemetry.flush()
  }

  if (options.works !== false) {
    await beginWork().catch(async (error: unknown) => {
      await close().catch(onError)
      throw error
    })
  }
  return {
    ...context,
    extensions,
    authenticate: authenticator.authenticate,
    authenticateSession: authenticator.authenticateSession,
    getCaller: (username) => getCaller(database, username),
    beginIdempotent: (caller, key, bodyHash) => beginIdempotent(context, caller, key, bodyHash),
    finishIdempotent: (caller, key, claim, answer) => finishIdempotent(context, caller, key, claim, answer),
    readiness: async () => ({
      database: await answersQueries(database),
      search: search.ready,
      disk: options.path === undefined || (await hasRoom(options.path)),
    }),
    metrics: async () => (await Promise.all([readNodeMetrics(context), ...metricReaders.map(readOrNothing)])).flat(),
    addMetrics: (read) => void metricReaders.push(read),
    endWaits: () => waits.abort(),
    close: () => (closed ??= close()),
  }
}

/** The identity of the database and a key for it; where it is to have another name the database is closed again. */
async function identify(database: Database, origin: string | undefined, clock: Clock): Promise<Identity> {
  try {
    const identity = await readIdentity(database, origin)
    await ensureSigningKey(database, clock)
    return identity
  } catch (error) {
    await database.close()
    throw error
  }
}

async function getCaller(database: Database, username: string): Promise<UserCaller> {
  const user = await database.read.selectFrom('users').selectAll().where('username', '=', username).executeTakeFirst()
  if (!user) throw new RegistryError('not_found', `There is no user '${username}'.`)
  return { kind: 'user', userId: user.id, username, plan: user.plan, role: user.role, scopes }
}

async function hasRoom(path: string): Promise<boolean> {
  if (path === ':memory:') return true
  const { bavail, bsize } = await statfs(dirname(path))
  return bavail * bsize >= diskBytesMin
}
