import type { Registry } from '@skillstead/core'
import type { MirrorContext } from '../run.ts'
import { parseVerifierKey } from '@skillstead/client/verify'
import { readUpstreamFrontier } from '../store/upstream-log.ts'
import { partsOf, splitHashes, toRoot } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { SyncAlarm } from '../alarms.ts'
import { requireExtension } from '../extension.ts'
import { applyLog } from '../log/apply-log.ts'
import { followLog, type Position } from '../log/follow-log.ts'
import { applyLate } from '../log/late.ts'
import { runSync } from '../run-sync.ts'
import { updateOwn, type MirrorParts, type Run } from '../run.ts'
import { getUpstream } from '../store/upstreams.ts'
import type { SyncOptions, SyncReport } from '../types.ts'
import { createUpstreamFetch } from '../upstream-fetch.ts'
import { damaged, toCreateCommand, toHeaderText, type BundleHeader } from './format.ts'
import { inspectBundle } from './inspect.ts'
import { createBundleSource } from './source.ts'
import { addBundleUpstream, findBundleUpstream } from './upstream-of.ts'
import { verifyBundle } from './verify.ts'

export interface ImportBundleOptions extends SyncOptions {
  /** How the registry that it comes from is called here; found by its origin, or made of it, unless it is said. */
  readonly name?: string
  /**
   * The verifier keys to believe from now on, and no others. One of the mirror that wrote the bundle is for its header,
   * and is not kept.
   */
  readonly keys?: readonly string[]
  /** Names that never come from elsewhere: full or short, `*` as wildcard. */
  readonly privateNames?: readonly string[]
  readonly onError?: (error: unknown) => void
}

/** What an import did. */
export interface ImportedBundle extends SyncReport {
  readonly origin: string
  readonly since: number
  readonly until: number
  /** The verifier keys that are believed of the origin now. */
  readonly keys: readonly string[]
  /** Whether they were taken from the bundle, as nothing was known of the origin before: to be compared by hand. */
  readonly isFirstUse: boolean
  /** The command for the bundle after it. */
  readonly next: string
}

/**
 * Brings a bundle in: verifies all of it, and then applies it as a sync of its origin would, each entry in a transaction
 * of its own. It can be ended at any moment and begun again, and brings in nothing twice. Asks no network. Throws
 * `invalid_request` for a bundle that is damaged, of an unknown signer, or that begins after what is here, and what a
 * sync throws.
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
  const { header: said } = await inspectBundle(file)
  const { name, upstream, keys: believed } = await findBundleUpstream(context, said, options)
  requirePosition(said, options.full ? 0 : (upstream?.applied ?? 0))
  const order = new Map<string, number>()
  const { header } = await verifyBundle(file, {
    keys: believed,
    signal: options.signal,
    onContent: (digest) => void order.set(digest, order.size),
    onProgress: (progress) => options.onProgress?.({ upstream: name, phase: 'staging', ...progress }),
  })
  // Another one was copied over it since: what was found above is not its.
  if (toHeaderText(header) !== toHeaderText(said)) throw damaged('it changed while it was read')
  const given = options.keys && keepOf(header.origin, options.keys)
  if (!upstream) await addBundleUpstream(context, name, { file, header }, { keys: given })
  const report = await runSync(toParts(context, options), {
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
  return { ...report, origin, since, until, keys, isFirstUse: believed.length === 0, next }
}

function keepOf(origin: string, keys: readonly string[]): string[] {
  return keys.filter((key) => parseVerifierKey(key).name === origin)
}

interface Bundle {
  readonly file: string
  readonly header: BundleHeader
  /** The content that is in it, in its order. */
  readonly order: ReadonlyMap<string, number>
  /** Those that were given. */
  readonly keys: readonly string[] | undefined
}

/** As the sync of a node, with what a bundle lacks in mind: it may begin late, end early, and be older than what is here. */
async function syncBundle(run: Run, { file, header, order, keys: given }: Bundle): Promise<void> {
  const { logOrigin: origin, logEpoch: epoch, verified, staged, frontier, applied } = run.upstream
  requirePosition(header, applied)
  await requireHistory(run, header)
  const keys = given ?? run.upstream.keys
  // An acceptance stores its keys once they proved the log.
  if (given && !run.replacesKeys) await pin(run, given)
  const root = toRoot(splitHashes(frontier)).toString('base64')
  const position: Position = { known: { origin, epoch, keys, verified }, staged, root }
  const source = createBundleSource(file, header, order)
  try {
    await followLog(run, source, position)
    run.tally.head = position.known.verified
    // What comes after its end was heard of over the network; the content of that is not here.
    const until = Math.min(header.until, position.known.verified)
    await applyLog(run, source, { ...position.known, verified: until }, applied)
    // Nothing is asked for again: a bundle has what it has.
    await applyLate(run, source, { known: position.known, applied: Math.max(until, applied), due: [] })
  } finally {
    await source.close()
  }
}

async function pin(run: Run, keys: readonly string[]): Promise<void> {
  const settings = JSON.stringify({ ...run.upstream.settings, pinned: true })
  await run.parts.context.database.writer.write((trx) => updateOwn(trx, run, { keys: JSON.stringify(keys), settings }))
}

/** A bundle that skips entries would leave a hole that no later one fills. */
function requirePosition({ since, origin, maker }: BundleHeader, applied: number): void {
  if (since <= applied) return
  const command = toNextCommand({ maker }, applied)
  const detail = `This bundle begins after entry ${since} of ${origin}; this mirror has ${applied}. Make one with: ${command}`
  throw new RegistryError('invalid_request', detail)
}

/** What the mirror that made it calls the registry is not known here. */
function toNextCommand({ maker }: Pick<BundleHeader, 'maker'>, since: number): string {
  return toCreateCommand({ since, upstream: maker && 'NAME' })
}

/** The bundle proved that its entries follow on a tree: it is the one that is here, or the origin signed two of them. */
async function requireHistory({ parts, upstream }: Run, { since, frontier }: BundleHeader): Promise<void> {
  const here = await readUpstreamFrontier(parts.context.database.read, upstream.name, since)
  if (here.every((hash, i) => hash.toString('base64') === frontier[i])) return
  const sentence = `The bundle follows on ${since} entries that are not the first ${since} of those that it signed before.`
  throw new SyncAlarm('fork', sentence)
}

/** Those of a mirror that knows of no network. */
function toParts(
  context: MirrorContext,
  { privateNames = [], onError = (error) => console.error(error) }: ImportBundleOptions,
): MirrorParts {
  return {
    context,
    mode: 'offline',
    privateNames,
    onError,
    openFetch: (_, signal) => createUpstreamFetch({ mode: 'offline', clock: context.clock, signal }),
    readCredential: () => undefined,
  }
}
