import { readFile, stat } from 'node:fs/promises'
import { type Content, RegistryError, toErrorText } from '@skillstead/protocol'
import { toRulesVersion } from '@skillstead/scanner'
import {
  deleteRules,
  findRules,
  putRules,
  type InstalledBundle,
  type StoredRules,
} from '../catalogue/context/scan-rules.ts'
import { type Caller, systemCaller } from '../kernel/caller.ts'
import { hourMs } from '../kernel/clock.ts'
import { appendChange } from '../log/append-change.ts'
import { recordAudit } from '../log/audit.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { GovernanceContext } from './governance-context.ts'
import { rescanWith } from './rescan.ts'

const topic = 'rules.update'
const everyMs = hourMs

/** The source of a bundle of rules, and verifier keys: one of these keys must have signed the bundle. */
type RulesSource = Pick<StoredRules, 'source' | 'keys'>

/** Checks the source of the bundle of rules once an hour. A failed check leaves the installed bundle in use. */
export async function scheduleRulesUpdates(context: GovernanceContext, onError: (error: unknown) => void) {
  context.outbox.handle(topic, {
    retryDelaysMs: [],
    async handle() {
      if (await findRules(context.database.read)) await updateRules(context).catch(onError)
    },
    async afterwards(trx, [ended]) {
      if (await findRules(trx)) await enqueueUpdate(context, trx, ended!.startedAt + everyMs)
    },
  })
  await context.database.writer.write(async (trx) => {
    if (await findRules(trx)) await enqueueUpdate(context, trx, context.clock.now())
  })
}

/**
 * Installs the bundle of rules at a URL or in a file, and follows this source from now on. Throws the errors of the
 * HTTP client, and `invalid_request` for a bundle that none of the given keys signed, that has invalid rules, or that
 * has a lower release than the installed bundle. If none of the given keys signed the installed bundle, the releases
 * are not compared.
 */
export async function followRules(context: GovernanceContext, given: RulesSource, caller: Caller = systemCaller) {
  const bundle = await readVerifiedBundle(context, given)
  return context.database.writer.write(async (trx) => {
    const stored = await installBundle(context, trx, { ...given, bundle })
    const { checkedAt: at } = stored
    const data = { release: bundle.release, keys: given.keys }
    await recordAudit(trx, { caller, action: 'rules.follow', subject: given.source, at, data })
    await enqueueUpdate(context, trx, at + everyMs)
    return stored
  })
}

/**
 * Checks the source of the bundle, and installs a newer release. Throws as {@link followRules} does, and `not_found` if
 * the node follows no source; a failure is stored too. An offline node does not check a URL.
 */
export async function updateRules(context: GovernanceContext): Promise<StoredRules> {
  const followed = await getRules(context)
  if (context.outgoing.isOffline && isUrlSource(followed.source)) return followed
  try {
    const bundle = await readVerifiedBundle(context, followed)
    return await context.database.writer.write(async (trx) => {
      const current = await findRules(trx)
      return isSameSource(current, followed)
        ? installBundle(context, trx, { ...followed, bundle })
        : (current ?? followed)
    })
  } catch (error) {
    await context.database.writer.write(async (trx) => {
      const current = await findRules(trx)
      if (!isSameSource(current, followed)) return
      await putRules(trx, { ...current!, checkedAt: context.clock.now(), error: toErrorText(error) })
    })
    throw error
  }
}

/** The bundle of rules and its source. Throws `not_found`. */
export async function getRules({ database }: Pick<GovernanceContext, 'database'>): Promise<StoredRules> {
  return requireRules(await findRules(database.read))
}

function requireRules(stored: StoredRules | undefined): StoredRules {
  if (stored) return stored
  throw new RegistryError('not_found', 'This node has no bundle of rules, only the built-in rules.')
}

/** Removes the bundle of rules and stops following its source. Throws `not_found`. */
export async function removeRules(context: GovernanceContext, caller: Caller = systemCaller): Promise<StoredRules> {
  return context.database.writer.write(async (trx) => {
    const stored = requireRules(await findRules(trx))
    const at = context.clock.now()
    await deleteRules(trx)
    await announceRules(context, trx, toRulesVersion(), at)
    await recordAudit(trx, { caller, action: 'rules.remove', subject: stored.source, at })
    return stored
  })
}

/** GET /rules.bundle: the installed bundle, as it was signed, for nodes that follow this one. Throws `not_found`. */
export async function readRulesBundle(context: GovernanceContext): Promise<Content> {
  const { bundle } = await getRules(context)
  return { contentType: 'text/plain; charset=utf-8', body: Buffer.from(bundle.note) }
}

/** Stores a bundle. Throws `invalid_request` for a lower release than that of the installed bundle of the same keys. */
async function installBundle(
  context: GovernanceContext,
  trx: WriteTransaction,
  { source, keys, bundle }: RulesSource & { readonly bundle: InstalledBundle },
): Promise<StoredRules> {
  const installed = (await findRules(trx))?.bundle
  const at = context.clock.now()
  if (installed && isSignedByAny(installed, keys)) {
    const { release, id } = installed
    if (bundle.release < release)
      throw refuseBundle(
        `The bundle of rules at ${source} is release ${bundle.release}, older than the installed ${release}.`,
      )
    if (bundle.release === release && bundle.id !== id)
      throw refuseBundle(
        `The bundle of rules at ${source} differs from the installed one, but has the same release ${release}. Its author has to raise the release.`,
      )
  }
  const stored = { source, keys, bundle, checkedAt: at, error: null }
  await putRules(trx, stored)
  if (installed?.id !== bundle.id) await announceRules(context, trx, toRulesVersion(bundle), at)
  return stored
}

/** Makes all nodes load the rules, and starts a rescan with them. */
async function announceRules(context: GovernanceContext, trx: WriteTransaction, version: string, at: number) {
  await appendChange(trx, { kind: 'rules', subject: '', at, entries: [] })
  await rescanWith(context, trx, version)
}

/** Whether one of the keys signed a bundle. */
function isSignedByAny({ signers }: InstalledBundle, keys: readonly string[]): boolean {
  return keys.some((key) => signers.some((signer) => key.startsWith(`${signer}+`)))
}

function isSameSource(one: StoredRules | undefined, other: RulesSource): boolean {
  return one?.source === other.source && one.keys.join() === other.keys.join()
}

/** Reads and verifies the bundle of a source. */
async function readVerifiedBundle(context: GovernanceContext, { source, keys }: RulesSource): Promise<InstalledBundle> {
  const { bundleLimits, verifyBundle } = await import('@skillstead/scanner/bundle')
  const bytes = isUrlSource(source)
    ? await fetchBundle(context, source, bundleLimits.bytesMax)
    : await readBundleFile(source, bundleLimits.bytesMax)
  const note = new TextDecoder().decode(bytes)
  try {
    const { id, release, date, signers } = await verifyBundle(note, keys)
    return { id, note, release, date, signers }
  } catch (cause) {
    throw refuseBundle(`The bundle of rules at ${source} was refused. ${toErrorText(cause)}`, cause)
  }
}

function isUrlSource(source: string): boolean {
  return /^https?:\/\//i.test(source)
}

async function fetchBundle({ outgoing }: GovernanceContext, source: string, bytesMax: number): Promise<Uint8Array> {
  const url = await outgoing.requirePublic(source, 'source')
  if (url.pathname === '/') url.pathname = '/api/v1/rules.bundle'
  const { status, bytes } = await outgoing.get(url.href, { bytesMax })
  if (status === 200) return bytes
  throw new RegistryError('upstream_failed', `There is no bundle of rules at ${url.href}: status ${status}.`)
}

async function readBundleFile(file: string, bytesMax: number): Promise<Uint8Array> {
  try {
    const { size } = await stat(file)
    if (size <= bytesMax) return await readFile(file)
  } catch (cause) {
    throw refuseBundle(`The bundle of rules ${file} cannot be read.`, cause)
  }
  throw refuseBundle(`The bundle of rules ${file} is larger than ${bytesMax / 1024} KiB.`)
}

function refuseBundle(detail: string, cause?: unknown): RegistryError {
  return new RegistryError('invalid_request', detail, { cause })
}

function enqueueUpdate({ outbox }: GovernanceContext, trx: WriteTransaction, dueAt: number): Promise<void> {
  return outbox.enqueue(trx, { topic, payload: {}, uniqueKey: topic, dueAt })
}
