import type { Registry } from '@skillstead/core'
import { type MirrorContext, updateOwn, type MirrorParts, type Run } from '../run.ts'
import { parseVerifierKey } from '@skillstead/client/verify'
import { readUpstreamFrontier } from '../store/upstream-log.ts'
import { partsOf, printError, splitHashes, toRoot } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { SyncAlarm } from '../alarms.ts'
import { requireExtension } from '../extension.ts'
import { applyLog } from '../log/apply-log.ts'
import { followLog, type Position } from '../log/follow-log.ts'
import { applyLateContent } from '../log/late-content.ts'
import { runSync } from '../run-sync.ts'
import { getUpstream } from '../store/upstreams.ts'
import type { SyncOptions, SyncReport } from '../types.ts'
import { UpstreamFetch } from '../upstream-fetch.ts'
import { damagedBundle, toCreateCommand, toHeaderText, type BundleHeader } from './format.ts'
import { inspectBundle } from './read.ts'
import { createBundleSource } from './source.ts'
import { addBundleUpstream, findBundleUpstream } from './upstream-of.ts'
import { verifyBundle } from './verify.ts'

/** Options of `importBundle`. */
export interface ImportBundleOptions extends SyncOptions {
  /**
   * Name of the upstream to which the bundle belongs. Default: the upstream with the bundle's origin, or a new upstream
   * named after the origin.
   */
  readonly name?: string
  /**
   * The only verifier keys to trust from now on. A key of the mirror that created the bundle only verifies the bundle's
   * header, and is not stored.
   */
  readonly keys?: readonly string[]
  /** Names that are never imported: full or short; `*` matches any characters. */
  readonly privateNames?: readonly string[]
  readonly onError?: (error: unknown) => void
}

/** The result of an import. */
export interface ImportedBundle extends SyncReport {
  readonly origin: string
  readonly since: number
  readonly until: number
  /** The verifier keys that are trusted for the origin after the import. */
  readonly keys: readonly string[]
  /** Whether the keys were taken from the bundle because the origin was unknown. Compare them by hand. */
  readonly isFirstUse: boolean
  /** The command that creates the next bundle on the other node. */
  readonly next: string
}

/**
 * Imports a bundle: verifies all of it, then applies its entries like a sync, each in its own transaction. An import
 * can be stopped at any moment and repeated: it imports nothing twice. Uses no network. Throws `invalid_request` for a
 * damaged bundle, an untrusted signer, or a bundle that starts after the end of the stored log, and the errors of a
 * sync.
 *
 * @example
 * const { applied, origin } = await importBundle(registry, '/media/stick/skills.bundle')
 */
export async function importBundle(
  registry: Registry,
  file: string,
  options: ImportBundleOptions = {},
): Promise<ImportedBundle> {
  const context = partsOf(registry)
  requireExtension(context)
  const { header: inspected } = await inspectBundle(file)
  const { name, upstream, keys: trusted } = await findBundleUpstream(context, inspected, options)
  requirePosition(inspected, options.full ? 0 : (upstream?.applied ?? 0))
  const order = new Map<string, number>()
  const { header } = await verifyBundle(file, {
    keys: trusted,
    signal: options.signal,
    onContent: (digest) => void order.set(digest, order.size),
    onProgress: (progress) => options.onProgress?.({ upstream: name, phase: 'staging', ...progress }),
  })
  // If the headers differ, another file replaced the bundle meanwhile, and the upstream and keys found above are not of
  // this file.
  if (toHeaderText(header) !== toHeaderText(inspected)) throw damagedBundle('it changed while it was being read')
  const given = options.keys && options.keys.filter((key) => parseVerifierKey(key).name === header.origin)
  if (!upstream) await addBundleUpstream(context, name, { file, header }, { keys: given })
  const report = await runSync(toImportParts(context, options), {
    name,
    options,
    keys: given,
    signal: new AbortController().signal,
    engine: (run) => syncBundle(run, { file, header, order, keys: given }),
    onAlarm: () => undefined,
  })
  const { keys, applied } = await getUpstream(context.database.read, name)
  const { origin, since, until } = header
  const next = toNextCommand(header, applied)
  return { ...report, origin, since, until, keys, isFirstUse: trusted.length === 0, next }
}

interface Bundle {
  readonly file: string
  readonly header: BundleHeader
  /** The place of each blob in the bundle, by digest. */
  readonly order: ReadonlyMap<string, number>
  /** The keys that the operator passed. */
  readonly keys: readonly string[] | undefined
}

/** Imports entries like the sync of a node, but a bundle may start late, end early, or be older than the stored log. */
async function syncBundle(run: Run, { file, header, order, keys: given }: Bundle): Promise<void> {
  const { logOrigin: origin, logEpoch: epoch, verified, staged, frontier, applied } = run.upstream
  requirePosition(header, applied)
  await requireHistory(run, header)
  const keys = given ?? run.upstream.keys
  // Not for a pause about keys: these keys are stored only after they verified the log.
  if (given && !run.replacesKeys) await pinBundleKeys(run, given)
  const root = toRoot(splitHashes(frontier)).toString('base64')
  const position: Position = { known: { origin, epoch, keys, verified }, staged, root }
  const source = createBundleSource(file, header, order)
  try {
    await followLog(run, source, position)
    run.tally.head = position.known.verified
    // Entries after the bundle's end may be stored from a sync over the network. They are not applied, because their
    // content is not in the bundle.
    const until = Math.min(header.until, position.known.verified)
    await applyLog(run, source, { ...position.known, verified: until }, applied)
    // No version is due for another attempt: the bundle does not have the content that was missing before.
    await applyLateContent(run, source, { known: position.known, applied: Math.max(until, applied), due: [] })
  } finally {
    await source.close()
  }
}

async function pinBundleKeys(run: Run, keys: readonly string[]): Promise<void> {
  const settings = JSON.stringify({ ...run.upstream.settings, pinned: true })
  await run.parts.context.database.writer.write((trx) => updateOwn(trx, run, { keys: JSON.stringify(keys), settings }))
}

/** Rejects a bundle that starts after the applied entries, because no later bundle would contain the skipped ones. */
function requirePosition({ since, origin, maker }: BundleHeader, applied: number): void {
  if (since <= applied) return
  const command = toNextCommand({ maker }, applied)
  const detail = `This bundle starts after entry ${since} of ${origin}, but this mirror has only ${applied} entries. Create one with: ${command}`
  throw new RegistryError('invalid_request', detail)
}

/**
 * The command that creates the next bundle. For a bundle of a mirror it has the placeholder `NAME`, because the name of
 * the upstream on that mirror is unknown here.
 */
function toNextCommand({ maker }: Pick<BundleHeader, 'maker'>, since: number): string {
  return toCreateCommand({ since, upstream: maker && 'NAME' })
}

/** Checks that the bundle continues the stored log. Else the origin signed two histories: the sync pauses (`fork`). */
async function requireHistory({ parts, upstream }: Run, { since, frontier }: BundleHeader): Promise<void> {
  const here = await readUpstreamFrontier(parts.context.database.read, upstream.name, since)
  if (here.every((hash, i) => hash.toString('base64') === frontier[i])) return
  const sentence = `The bundle continues a log whose first ${since} entries differ from those that it signed before.`
  throw new SyncAlarm('fork', sentence)
}

/** The parts of a mirror for an import, which has no network access. */
function toImportParts(
  context: MirrorContext,
  { privateNames = [], onError = printError }: ImportBundleOptions,
): MirrorParts {
  return {
    context,
    mode: 'offline',
    privateNames,
    onError,
    openFetch: (_, signal) => new UpstreamFetch({ mode: 'offline', clock: context.clock, signal }),
    readCredential: () => undefined,
  }
}
