import { RegistryError } from '@skillstead/protocol'
import { onThreadsMissing, placeThreads } from '@skillstead/scanner/workers'
import { createAddressLimits } from './accounts/address-limits.ts'
import { createAuthenticator } from './accounts/authenticate.ts'
import { getCaller } from './accounts/find-user.ts'
import { createSharedLimits } from './storage/shared-limits.ts'
import { handleVerifications } from './accounts/verifications.ts'
import { createFindDocumented } from './catalogue/context/documented-skills.ts'
import { createScanRules } from './catalogue/context/scan-rules.ts'
import { createUpstreams } from './catalogue/context/upstream-port.ts'
import { createPublicNames } from './catalogue/context/use-counts.ts'
import { scheduleSketches } from './catalogue/copies/sketch-versions.ts'
import { scheduleMerges, scheduleTexts } from './catalogue/finding/index-texts.ts'
import { createArtifacts } from './catalogue/offers/artifacts.ts'
import { scheduleBlobMoves } from './catalogue/publishing/move-blobs-job.ts'
import { passOnShares } from './catalogue/sharing/share-links.ts'
import { CopyIndex } from './catalogue/sketches/copy-index.ts'
import { handleVerifiedSkills, refreshVerifiedSkills } from './catalogue/skills/refresh-skill.ts'
import { handleWithdrawals } from './catalogue/requires/withdrawals.ts'
import { scheduleDocuments, startDocuments } from './catalogue/skills/rebuild-documents.ts'
import { SecondOpinion } from './catalogue/skills/second-opinion.ts'
import { storageQuotaBytesDefault } from './catalogue/skills/storage-quota.ts'
import { attributeVersion } from './community/agent-actions.ts'
import { refreshStanding } from './community/author-standings.ts'
import { DownloadCounters, SeenUses } from './community/download-counters.ts'
import { handleExternalScans } from './community/external-skills.ts'
import { changeStanding, creditSkill, recountCredit } from './community/skill-credit.ts'
import { InstallTelemetry } from './community/telemetry.ts'
import { rescanByNewRules, scheduleRescan } from './governance/rescan.ts'
import { scheduleRulesUpdates } from './governance/rules-updates.ts'
import { scheduleTakedowns } from './governance/takedowns.ts'
import { createOutgoing } from './http/outgoing.ts'
import type { UserCaller } from './kernel/caller.ts'
import { systemClock } from './kernel/clock.ts'
import { printError } from './kernel/print-error.ts'
import { createResponseCache } from './kernel/response-cache.ts'
import { createSecrets } from './kernel/secrets.ts'
import { ChangeFollower } from './log/change-follower.ts'
import { createTransparency } from './log/log-context.ts'
import { openIdentity } from './log/node-identity.ts'
import { isNoteName } from './log/signed-notes.ts'
import { readVerifierKeys, type VerifierKey } from './log/signing-keys.ts'
import { connectExtensions, toDefinitions } from './operator/extension.ts'
import { scheduleHousekeeping } from './operator/housekeeping.ts'
import type { Metric } from './operator/metric.ts'
import { readStoredMetrics, toOpinionMetrics, readNodeMetrics, readOrNothing } from './operator/metrics.ts'
import { createServingNode } from './operator/node-port.ts'
import type { OperatorContext } from './operator/operator-context.ts'
import { readReadiness } from './operator/readiness.ts'
import type { RegistryOptions } from './operator/registry-options.ts'
import { createSecondStage } from './operator/second-stage.ts'
import { SetupCode } from './operator/setup-code.ts'
import { Outbox } from './outbox/outbox.ts'
import { CatalogueSearch } from './search/catalogue-search.ts'
import { connectPostgres, type Database, openDatabase } from './storage/database.ts'
import { Replica } from './storage/replica.ts'
import { handleDeliveries } from './webhooks/deliver-events.ts'
import { createWatchers } from './webhooks/download-events.ts'
import { forgetPolicy, judgeByPolicy, readEffectivePolicy } from './governance/policies.ts'
import { findReviewers, countApprovals } from './governance/quarantine.ts'
import { createEvents } from './webhooks/events.ts'
import { createMailNotices, handleMailNotices } from './webhooks/mail-notices.ts'

/**
 * An open registry: all functions of Skillstead, without a network. {@link localApi} calls its endpoints. Packages of
 * this repository reach its database and other parts with `partsOf` of `@skillstead/core/internal`.
 */
export interface Registry {
  /** Returns the user of an API key; throws `unauthorized`. */
  authenticate(key: string): Promise<UserCaller>
  /** Returns the user of a session token; throws `unauthorized`. */
  authenticateSession(token: string): Promise<UserCaller>
  /** Returns the user with a name. Checks no credentials: for trusted code inside the process. Throws `not_found`. */
  getCaller(username: string): Promise<UserCaller>
  /** The keys that sign the registry's log, newest first: verifiers need them. */
  verifierKeys(): Promise<VerifierKey[]>
  /** Whether the database responds, whether the search index is ready, and whether the disk has space for writes. */
  readiness(): Promise<{ database: boolean; search: boolean; disk: boolean }>
  /** The current metrics, including those of {@link Registry.addMetrics}. */
  metrics(): Promise<Metric[]>
  /** Adds metrics of a component that runs on top of the registry, such as a mirror. */
  addMetrics(read: () => Promise<Metric[]>): void
  /** Ends long polls when a node shuts down: each responds with the entries that exist. */
  endWaits(): void
  /** Waits for running work, writes buffered counters and closes the database. Later calls reject with `closed`. */
  close(): Promise<void>
  /** As {@link Registry.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

const parts = Symbol('parts')

/**
 * The parts of an open registry, such as its database and clock. Pass each function only the parts that it needs.
 * Throws a TypeError for a value that {@link openRegistry} did not return.
 */
export function partsOf(registry: Registry): OperatorContext {
  const { [parts]: found }: Registry & { [parts]?: OperatorContext } = registry
  if (found === undefined) throw new TypeError('This is not a registry. Pass what `openRegistry` returned.')
  return found
}

/** Throws `closed` after a registry began to close. */
export function requireOpen({ closing }: Pick<OperatorContext, 'closing'>, cause?: unknown): void {
  if (closing.aborted) throw new RegistryError('closed', 'The registry was closed. Open it again to use it.', { cause })
}

/** A copy of a registry with some of its parts replaced, such as its database or its clock. */
export function withParts(registry: Registry, changes: Partial<OperatorContext>): Registry {
  return Object.assign({ ...registry }, { [parts]: { ...partsOf(registry), ...changes } })
}

const answerBytesMax = 24 * 1024 * 1024
const memorySkillsMax = 150_000
/**
 * Default number of skills from which searches run in a thread of their own. A thread makes each search slower, because
 * of messages and cold processor caches. With more skills, searches in the main thread would delay other calls more.
 */
const threadSkillsMin = 80_000

/**
 * Opens a registry on an SQLite file or a PostgreSQL database, and creates the database if there is none. Throws a
 * {@link RegistryError}: `not_a_registry`, `newer_schema`, `unsupported_schema`, `damaged`, `locked`, and with the
 * modes `write` and `read` also `no_registry`. `older_schema` and `needs_write` occur with the mode `read` only.
 *
 * @example
 * await using registry = await openRegistry({ path: 'skills.db' })
 * const { skills } = await localApi(registry).searchSkills({ q: 'pdf' })
 */
export async function openRegistry(options: RegistryOptions): Promise<Registry> {
  if (options.origin !== undefined && !isNoteName(options.origin)) {
    throw new TypeError('`origin` must not contain spaces or plus signs. Use a name such as registry.example.com.')
  }
  const made = await openParts(options)
  const registry = toRegistry(made)
  if (!made.context.database.isReadOnly) {
    const begin = options.works === false ? beginIdle : beginWork
    await begin(made).catch(async (error: unknown) => {
      await registry.close().catch(made.onError)
      throw error
    })
  }
  return registry
}

function toRegistry(made: RegistryParts): Registry {
  const { context, authenticator, metricReaders, waits } = made
  const whileOpen = <Input extends unknown[], Output>(work: (...input: Input) => Promise<Output>) => {
    return async (...input: Input): Promise<Output> => {
      requireOpen(context)
      return work(...input)
    }
  }
  let closed: Promise<void> | undefined
  const close = () => (closed ??= closeParts(made))
  const registry: Registry = {
    authenticate: whileOpen(authenticator.authenticate),
    authenticateSession: whileOpen(authenticator.authenticateSession),
    getCaller: whileOpen((username) => getCaller(context, username)),
    verifierKeys: whileOpen(() => readVerifierKeys(context)),
    readiness: whileOpen(() => readReadiness(context)),
    metrics: whileOpen(async () =>
      (await Promise.all([readNodeMetrics(context), ...metricReaders.map(readOrNothing)])).flat(),
    ),
    addMetrics: (read) => void metricReaders.push(read),
    endWaits: () => waits.abort(),
    close,
    [Symbol.asyncDispose]: close,
  }
  return Object.assign(registry, { [parts]: context })
}

type RegistryParts = Awaited<ReturnType<typeof openParts>>

/** Opens the database and makes all parts of a registry. Background work begins with {@link beginWork}. */
async function openParts(options: RegistryOptions) {
  const base = await openBase(options)
  const { database, clock, changes, outbox, onError, closing, outgoing } = base
  const mailer = outgoing.isOffline ? undefined : options.mailer
  const hooks = connectExtensions(base.extensions, { ...base, closing: closing.signal })
  const { secondOpinion, comparison } = makeOpinions(options, base)
  const sharedLimits = createSharedLimits(database, onError)
  const waits = new AbortController()
  const context: OperatorContext = {
    ...base,
    ...hooks,
    ...(await makeCounting(options, base, hooks, sharedLimits)),
    ...makeReading(options, base),
    events: createEvents(outbox, clock, mailer && createMailNotices(outbox, database.dialect)),
    policies: { read: readEffectivePolicy, judge: judgeByPolicy, findReviewers, countApprovals, forget: forgetPolicy },
    reputation: { changeStanding, creditSkill, recountCredit },
    agents: { attributeVersion },
    async onVerificationChange(trx, userId, at) {
      await refreshStanding(trx, userId, at)
      await refreshVerifiedSkills(context, trx, userId)
    },
    onKeysRevoked: passOnShares,
    secondStage: comparison?.stage,
    copies: new CopyIndex(database, onError),
    transparency: createTransparency(),
    addressLimits: createAddressLimits(sharedLimits),
    sharedLimits,
    webhooks: options.webhooks ?? {},
    defaultPlan: options.defaultPlan ?? 'free',
    localSignIn: options.localSignIn ?? true,
    scanRules: await createScanRules(database, changes),
    scanPolicy: options.scanPolicy ?? {},
    secondOpinion,
    storageQuotaBytes: options.storageQuotaBytes ?? storageQuotaBytesDefault,
    recordInstallers: options.recordInstallers,
    upstreams: createUpstreams(),
    node: createServingNode(),
    setup: new SetupCode(database),
    startedAt: clock.now(),
    closing: closing.signal,
    waits: waits.signal,
  }
  const metricReaders: (() => Promise<Metric[]>)[] = [() => readStoredMetrics(context), hooks.backups.readMetrics]
  if (comparison) metricReaders.push(...comparison.metricReaders)
  if (secondOpinion) metricReaders.push(async () => toOpinionMetrics(secondOpinion.counts))
  const closeClients = async () => {
    await Promise.all([outgoing.close(), comparison?.close(), secondOpinion?.close(), database.bucket?.objects.close()])
  }
  const authenticator = createAuthenticator(database, clock, onError)
  const { endNotices, isNew } = base
  return { context, authenticator, metricReaders, closing, waits, closeClients, endNotices, isNew, onError, mailer }
}

/** Opens the database and makes the parts that all other parts of a registry need. */
async function openBase(options: RegistryOptions) {
  const { clock = systemClock, onError = printError } = options
  const extensions = toDefinitions(options.extensions ?? [])
  if (options.threads !== undefined) placeThreads(options.threads)
  const secrets = createSecrets(options.secretKey)
  const outgoing = createOutgoing(options.outgoing ?? {})
  const { ca, proxy } = options.outgoing ?? {}
  const blobs = options.blobs && { ca, proxy, ...options.blobs }
  const database = await openDatabase({ ...options, extensions, blobs })
  const { origin, epoch, isNew } = await openIdentity(database, options.origin, clock)
  const replica = await openReplica(options, database, onError)
  const endNotices = onThreadsMissing(options.onDegraded ?? ((what) => console.warn(what)))
  const changes = await ChangeFollower.open(database, onError, options.pollMs)
  const traffic = { calls: 0 }
  const outbox = new Outbox({ database, clock, traffic, onError })
  const closing = new AbortController()
  const identity = { origin, epoch, isNew, secrets, extensions }
  return { ...identity, clock, onError, outgoing, database, replica, endNotices, changes, traffic, outbox, closing }
}

async function openReplica(
  { databaseUrl, databaseReadUrl }: RegistryOptions,
  database: Database,
  onError: (error: unknown) => void,
): Promise<Replica | undefined> {
  if (databaseReadUrl === undefined) return undefined
  if (databaseUrl === undefined) throw new TypeError('`databaseReadUrl` is a replica of `databaseUrl`: pass both.')
  return new Replica(database, await connectPostgres(databaseReadUrl, true), onError)
}

type Base = Awaited<ReturnType<typeof openBase>>

/** The external services that searches and publishes may ask. */
function makeOpinions(options: RegistryOptions, { database, clock, onError, outgoing }: Base) {
  const { secondOpinion } = options
  const isAsked = secondOpinion && !outgoing.isOffline
  return {
    secondOpinion: isAsked ? new SecondOpinion(secondOpinion, onError, options.outgoing) : undefined,
    comparison: createSecondStage(options, { database, clock, onError }),
  }
}

/** The counters of downloads and installs. */
async function makeCounting(
  { recordInstallers = false }: RegistryOptions,
  { database, clock, outbox, changes, onError }: Base,
  { upstreamQueue }: ReturnType<typeof connectExtensions>,
  sharedLimits: ReturnType<typeof createSharedLimits>,
) {
  const watchers = await createWatchers(database, changes)
  const counting = { database, clock, outbox, watchers, upstreamQueue, onError, recordInstallers }
  const counters = new DownloadCounters(counting, new SeenUses(sharedLimits))
  return { counters, telemetry: new InstallTelemetry(counting) }
}

/** The caches and the index of searches, which answer reads faster than the tables. */
function makeReading(options: RegistryOptions, { database, changes, onError }: Base) {
  const answers = createResponseCache(options.answerBytesMax ?? answerBytesMax)
  changes.follow((batch) => batch.forEach(({ subject }) => answers.forget(subject)), answers.forgetAll)
  const search = new CatalogueSearch(database, changes, {
    memorySkillsMax: options.memorySkillsMax ?? memorySkillsMax,
    threadSkillsMin: options.threadSkillsMin ?? threadSkillsMin,
    onError,
  })
  return {
    answers,
    search,
    findDocumented: createFindDocumented(database),
    artifacts: createArtifacts(database),
    publicNames: createPublicNames(changes),
  }
}

/**
 * Records that a new database has no old scans and documents. Otherwise the first process with background work would
 * examine all that processes without it, such as an import, stored before.
 */
async function beginIdle({ context, isNew }: RegistryParts): Promise<void> {
  if (!isNew) return
  await rescanByNewRules(context)
  await startDocuments(context)
}

/** Schedules the background work of a registry and starts its outbox. */
async function beginWork({ context, onError, mailer }: RegistryParts): Promise<void> {
  await context.setup.share()
  await scheduleHousekeeping(context)
  scheduleTakedowns(context)
  handleVerifiedSkills(context)
  handleWithdrawals(context)
  // An offline node leaves jobs that need the network pending. The next process with network access runs them.
  if (!context.outgoing.isOffline) {
    handleVerifications(context)
    handleExternalScans(context)
    handleDeliveries(context)
  }
  if (mailer) handleMailNotices(context, mailer)
  await scheduleRescan(context)
  await scheduleRulesUpdates(context, onError)
  await scheduleBlobMoves(context)
  await scheduleSketches(context)
  await scheduleTexts(context)
  scheduleMerges(context)
  await scheduleDocuments(context)
  await context.backups.schedule()
  context.outbox.start()
  // Count the installs that an earlier process recorded but did not count.
  await context.telemetry.flush()
}

/** Waits for running work, writes buffered counters and closes the database. */
async function closeParts(made: RegistryParts): Promise<void> {
  const { context, authenticator, closing, waits, closeClients, endNotices } = made
  const { search, outbox, counters, telemetry, copies, changes, sharedLimits, replica, database } = context
  closing.abort()
  waits.abort()
  search.stop()
  await search.warmed
  // Stop and close in parallel: stopping the outbox prevents new requests, and closing the clients aborts requests that
  // hang.
  await Promise.all([outbox.stop(), closeClients()])
  await counters.stop()
  await telemetry.stop()
  await authenticator.flush()
  await copies.stop()
  await changes.stop()
  sharedLimits?.stop()
  await replica?.close()
  await database.close()
  endNotices()
}
