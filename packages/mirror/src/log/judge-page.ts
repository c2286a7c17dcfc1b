import { VerificationError, verifyCheckpoint } from '@skillstead/client/verify'
import { RegistryError, endpoints, firstIssueOnly, limits } from '@skillstead/protocol'
import * as v from 'valibot'
import { SyncAlarm } from '../alarms.ts'
import type { FeedPage, LogSource, UpstreamSettings } from '../types.ts'

/** What is believed of a log, and how far it is known. */
export interface Known {
  /** Null before the first page. */
  readonly origin: string | null
  readonly epoch: number | null
  readonly keys: readonly string[]
  readonly verified: number
}

/** A checkpoint that a believed key signed. */
export interface SignedHead {
  readonly treeSize: number
  /** Base64. */
  readonly rootHash: string
  readonly checkpoint: string
  /** Milliseconds since 1970; undefined where it does not say. */
  readonly signedAt?: number
  /** The keys to believe from now on. */
  readonly keys: readonly string[]
}

const Page = endpoints.getFeed.output

/**
 * A page of a log, in the form of one, and following on `since`. The entries are as they came, for the log commits to all
 * that is in them. Throws `upstream_failed`.
 */
export function checkPage(page: FeedPage, since: number, who: string): FeedPage {
  // No node sends more than it was asked for. Checked first: validation looks at each entry.
  if (Array.isArray(page?.entries) && page.entries.length > limits.feedPageMax)
    throw fail(`${who} sent ${page.entries.length} entries, more than the ${limits.feedPageMax} that a page may have.`)
  const form = v.safeParse(Page, page, firstIssueOnly)
  if (!form.success) {
    const [issue] = form.issues
    throw fail(`${who} answers with a feed that is none: ${v.getDotPath(issue) ?? 'it'}: ${issue.message}.`)
  }
  const odd = page.entries.findIndex(({ seq }, i) => seq !== since + 1 + i)
  if (odd !== -1) {
    throw fail(
      `${who} gives the entry ${page.entries[odd]!.seq} where ${since + 1 + odd} comes next; its feed has a gap or a loop.`,
    )
  }
  return page
}

/** Throws the alarms `origin` and `epoch` where the log is another one than it was. */
export function checkIdentity({ origin, epoch }: FeedPage, known: Known): void {
  if (known.origin !== null && origin !== known.origin) {
    throw new SyncAlarm('origin', `It was the log of ${known.origin}, and now it says that it is that of ${origin}.`)
  }
  if (known.epoch !== null && epoch !== known.epoch) {
    const sentence = `It was in its epoch ${known.epoch} and is in ${epoch} now: it was restored or moved, and what it published in between may be missing.`
    throw new SyncAlarm('epoch', sentence)
  }
}

/**
 * The page's checkpoint, where a believed key signed it. On first contact, with no key pinned, those that the source names
 * are believed. Throws the alarms `key`, `origin` and `rollback`; `upstream_failed` where there is none.
 */
export async function checkSignature(
  page: FeedPage,
  known: Known,
  source: LogSource,
  who: string,
): Promise<SignedHead> {
  const { checkpoint } = page
  if (checkpoint === null) throw fail(`${who} gives no signed checkpoint, so that nothing of its log can be believed.`)
  const isFirst = known.keys.length === 0
  const keys = isFirst ? await source.readKeys() : known.keys
  const head = verify(checkpoint, keys, isFirst, who)
  if (head.origin !== page.origin) {
    throw new SyncAlarm(
      'origin',
      `The feed says that it is the log of ${page.origin}, and its checkpoint ${head.origin}.`,
    )
  }
  if (head.treeSize < known.verified && !source.isCopy) {
    const sentence = `Its log has ${head.treeSize} entries, and had ${known.verified} before: it went back in time.`
    throw new SyncAlarm('rollback', sentence)
  }
  if (head.treeSize < page.head) {
    throw fail(`${who} signs ${head.treeSize} entries and says that it has ${page.head}.`)
  }
  return { ...head, checkpoint, keys: toBelieved(head, keys) }
}

/** The keys that a source names and that signed a page's checkpoint. None where it cannot be read. */
export async function readOfferedKeys({ checkpoint }: FeedPage, source: LogSource): Promise<readonly string[]> {
  if (checkpoint === null) return []
  const keys = await source.readKeys().catch(() => [])
  return keys.filter((key) => isSigner(key, checkpoint))
}

function isSigner(key: string, checkpoint: string): boolean {
  try {
    return verifyCheckpoint(checkpoint, [key]).signers.length > 0
  } catch (error) {
    if (error instanceof VerificationError) return false
    throw error
  }
}

/** How far the clocks of two nodes may differ. */
const aheadMsMax = 10 * 60_000

/**
 * Throws the alarm `future` for a checkpoint that is dated ahead: it would count as fresh for as long, whatever is quarantined
 * meanwhile.
 */
export function checkNotAhead({ signedAt }: SignedHead, now: number): void {
  if (signedAt === undefined || signedAt - now <= aheadMsMax) return
  const sentence = `Its newest checkpoint is dated ${new Date(signedAt).toISOString()}, which is ahead of the clock of this node, ${new Date(now).toISOString()}: one of the clocks is wrong, or the date was made up to hide later entries.`
  throw new SyncAlarm('future', sentence)
}

/** Throws the alarm `freeze` for a checkpoint that was signed too long ago. */
export function checkFreshness({ signedAt }: SignedHead, { maxAgeSeconds }: UpstreamSettings, now: number): void {
  if (signedAt === undefined || maxAgeSeconds === 0 || now - signedAt <= maxAgeSeconds * 1000) return
  const sentence = `Its newest checkpoint was signed at ${new Date(signedAt).toISOString()}, and it is ${new Date(now).toISOString()} here: what was published since may be quarantined, or one of the clocks is wrong.`
  throw new SyncAlarm('freeze', sentence)
}

function verify(checkpoint: string, keys: readonly string[], isFirst: boolean, who: string) {
  try {
    return verifyCheckpoint(checkpoint, keys)
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    if (isFirst) throw fail(`${who} signs with none of the keys that it names: ${error.message}`)
    throw new SyncAlarm('key', error.message)
  }
}

/** Keys that sign together with a believed one are believed; one that signs no more is not. */
function toBelieved(
  { endorsedKeys, signers }: { endorsedKeys: readonly string[]; signers: readonly { name: string; hash: string }[] },
  keys: readonly string[],
): readonly string[] {
  if (endorsedKeys.length > 0) return endorsedKeys
  return keys.filter((key) => signers.some(({ name, hash }) => key.startsWith(`${name}+${hash}+`)))
}

function fail(detail: string): RegistryError {
  return new RegistryError('upstream_failed', detail)
}
