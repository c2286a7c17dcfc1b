import { VerificationError, verifyCheckpoint } from '@skillstead/client/verify'
import { RegistryError, endpoints, firstIssueOnly, limits, attempt } from '@skillstead/protocol'
import * as v from 'valibot'
import { SyncAlarm } from '../alarms.ts'
import type { FeedPage, LogSource, UpstreamSettings } from '../types.ts'

/** The trusted name, epoch and keys of a log, and how many of its entries are verified. */
export interface Known {
  /** The log's name; null before its first page was read. */
  readonly origin: string | null
  readonly epoch: number | null
  readonly keys: readonly string[]
  readonly verified: number
}

/** A checkpoint signed by a trusted key. */
export interface SignedHead {
  readonly treeSize: number
  /** Base64. */
  readonly rootHash: string
  readonly checkpoint: string
  /** Milliseconds since 1970; undefined if the checkpoint has no time. */
  readonly signedAt?: number
  /** The keys to trust after this checkpoint. */
  readonly keys: readonly string[]
}

const Page = endpoints.getFeed.output

/**
 * Checks the form of a page, and that it continues after entry `since`. Returns the entries unchanged, because the log
 * commits to all their bytes. Throws `upstream_failed`.
 */
export function checkPage(page: FeedPage, since: number, who: string): FeedPage {
  // The number of entries is checked before the validation, which visits each entry. No node sends more than requested.
  if (Array.isArray(page?.entries) && page.entries.length > limits.feedPageMax)
    throw pageFailure(`${who} sent a page of ${page.entries.length} entries. The maximum is ${limits.feedPageMax}.`)
  const form = v.safeParse(Page, page, firstIssueOnly)
  if (!form.success) {
    const [issue] = form.issues
    throw pageFailure(`${who} returned an invalid feed: ${v.getDotPath(issue) ?? 'it'}: ${issue.message}.`)
  }
  const odd = page.entries.findIndex(({ seq }, i) => seq !== since + 1 + i)
  if (odd !== -1) {
    throw pageFailure(
      `${who} returned entry ${page.entries[odd]!.seq} where entry ${since + 1 + odd} was expected. Its feed has a gap or a loop.`,
    )
  }
  return page
}

/** Pauses the sync with reason `origin` or `epoch` if the page has another log name or epoch than the pages before. */
export function checkIdentity({ origin, epoch }: FeedPage, known: Known): void {
  if (known.origin !== null && origin !== known.origin) {
    throw new SyncAlarm('origin', `The log was named ${known.origin} before, and is named ${origin} now.`)
  }
  if (known.epoch !== null && epoch !== known.epoch) {
    const sentence = `The upstream's epoch was ${known.epoch} and is ${epoch} now: the upstream was restored or moved, and may have lost entries.`
    throw new SyncAlarm('epoch', sentence)
  }
}

/**
 * Returns the page's checkpoint if a trusted key signed it. On first contact without a pinned key, the keys that the
 * source publishes are trusted. Pauses the sync with reason `key`, `origin` or `rollback`; throws `upstream_failed` if
 * the page has no checkpoint.
 */
export async function checkSignature(
  page: FeedPage,
  known: Known,
  source: LogSource,
  who: string,
): Promise<SignedHead> {
  const { checkpoint } = page
  if (checkpoint === null) throw pageFailure(`${who} returned no signed checkpoint, so its log cannot be verified.`)
  const isFirst = known.keys.length === 0
  const keys = isFirst ? await source.readKeys() : known.keys
  const head = verifyPageCheckpoint(checkpoint, keys, isFirst, who)
  if (head.origin !== page.origin) {
    throw new SyncAlarm('origin', `The feed names the log ${page.origin}, but its checkpoint names ${head.origin}.`)
  }
  if (head.treeSize < known.verified && !source.isCopy) {
    const sentence = `Its log has ${head.treeSize} entries, but had ${known.verified} before: it lost entries.`
    throw new SyncAlarm('rollback', sentence)
  }
  if (head.treeSize < page.head) {
    throw pageFailure(`${who} signed ${head.treeSize} entries, but reports ${page.head}.`)
  }
  return { ...head, checkpoint, keys: toTrusted(head, keys) }
}

/** The keys that the source publishes and that signed the page's checkpoint. Empty if the keys cannot be read. */
export async function readOfferedKeys({ checkpoint }: FeedPage, source: LogSource): Promise<readonly string[]> {
  if (checkpoint === null) return []
  const keys = await source.readKeys().catch(() => [])
  return keys.filter((key) => attempt(() => verifyCheckpoint(checkpoint, [key]), VerificationError)?.signers.length)
}

/** Maximum difference between the clocks of two nodes, in milliseconds. */
const aheadMsMax = 10 * 60_000

/**
 * Pauses the sync with reason `future` if the checkpoint's time lies ahead. Such a checkpoint would count as fresh for
 * a long time, and hide later entries.
 */
export function checkNotAhead({ signedAt }: SignedHead, now: number): void {
  if (signedAt === undefined || signedAt - now <= aheadMsMax) return
  const sentence = `The upstream's newest checkpoint is dated ${new Date(signedAt).toISOString()}, ahead of this node's clock (${new Date(now).toISOString()}). One of the clocks is wrong, or the upstream uses a false date to hide later entries.`
  throw new SyncAlarm('future', sentence)
}

/** Pauses the sync with reason `freeze` if the checkpoint is too old. */
export function checkFreshness({ signedAt }: SignedHead, { maxAgeSeconds }: UpstreamSettings, now: number): void {
  if (signedAt === undefined || maxAgeSeconds === 0 || now - signedAt <= maxAgeSeconds * 1000) return
  const sentence = `The upstream's newest checkpoint was signed at ${new Date(signedAt).toISOString()}, but this node's clock shows ${new Date(now).toISOString()}. The upstream may be hiding later entries, or one of the clocks is wrong.`
  throw new SyncAlarm('freeze', sentence)
}

function verifyPageCheckpoint(checkpoint: string, keys: readonly string[], isFirst: boolean, who: string) {
  try {
    return verifyCheckpoint(checkpoint, keys)
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    if (isFirst) throw pageFailure(`${who} signs with none of the keys that it publishes: ${error.message}`)
    throw new SyncAlarm('key', error.message)
  }
}

/** The keys to trust after a checkpoint: keys that sign together with a trusted key, not keys that no longer sign. */
function toTrusted(
  { endorsedKeys, signers }: { endorsedKeys: readonly string[]; signers: readonly { name: string; hash: string }[] },
  keys: readonly string[],
): readonly string[] {
  if (endorsedKeys.length > 0) return endorsedKeys
  return keys.filter((key) => signers.some(({ name, hash }) => key.startsWith(`${name}+${hash}+`)))
}

function pageFailure(detail: string): RegistryError {
  return new RegistryError('upstream_failed', detail)
}
