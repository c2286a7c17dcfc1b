import { setImmediate } from 'node:timers/promises'
import {
  dropStaged,
  readUpstreamFrontier,
  selectUpstreamEntries,
  stageEntries,
  toStagedEntry,
  type StagedEntry,
} from '../store/upstream-log.ts'
import { toRoot } from '@skillstead/core/internal'
import { RegistryError, limits } from '@skillstead/protocol'
import { SyncAlarm, replacesKeys } from '../alarms.ts'
import { requireActive, updateOwn, type Run } from '../run.ts'
import type { FeedEntry, FeedPage, LogSource } from '../types.ts'
import {
  checkFreshness,
  checkIdentity,
  checkNotAhead,
  checkPage,
  checkSignature,
  readOfferedKeys,
  type Known,
  type SignedHead,
} from './judge-page.ts'

/** Maximum number of entries stored in one transaction. */
const stagedMax = 100
/** Maximum time in ms for which hashing entries may block the event loop. */
const blockMsMax = 10

/** How much of a log is stored. A run changes it in place. */
export interface Position {
  known: Known
  staged: number
  /** The Merkle root of the staged entries, base64. */
  root: string
}

/**
 * Copies the log of an upstream: stores its entries unverified (staged), then checks that they lead to the root of a
 * signed checkpoint. This shows that the log only grew and that no entry is missing. Entries that fail the check are
 * deleted and requested once more, because the network may have altered them; if they fail again, the sync pauses.
 */
export async function followLog(run: Run, source: LogSource, position: Position): Promise<void> {
  for (let isLast = false; ; isLast = true) {
    const outcome = await readToHead(run, source, position)
    if (outcome === 'current') return
    if (isLast || position.staged === position.known.verified) throw await explainMismatch(run, source, position)
    await dropUnverified(run, position)
  }
}

async function readToHead(run: Run, source: LogSource, position: Position): Promise<'current' | 'mismatch'> {
  const who = run.upstream.location
  // Verifies up to the first checkpoint before it follows a newer one, so that the unverified entries are at most those
  // that one checkpoint covers.
  let target: SignedHead | undefined
  for (;;) {
    requireActive(run)
    const page = checkPage(await source.readPage(position.staged), position.staged, who)
    const head = await checkHead(run, source, position, page)
    if (head.treeSize < position.known.verified) return checkOlder(run, position, head)
    // An interrupted run left staged entries of another history than the history that is signed now.
    if (head.treeSize < position.staged) return 'mismatch'
    target ??= head
    run.progress({ phase: 'staging', done: position.staged, total: head.treeSize })
    let rest: readonly FeedEntry[] = page.entries
    while (rest.length > 0 || position.staged === target.treeSize) {
      const count = target.treeSize - position.staged
      await stagePage(run, position, rest.slice(0, count))
      rest = rest.slice(count)
      if (position.staged < target.treeSize) break
      if (position.root !== target.rootHash) return 'mismatch'
      await storeVerified(run, position, page, target)
      if (head.treeSize === position.staged) return 'current'
      target = head
    }
    if (page.entries.length === 0) {
      throw new RegistryError(
        'upstream_failed',
        `${who} reports ${head.treeSize} entries, but returns none after ${position.staged}.`,
      )
    }
  }
}

async function checkHead(run: Run, source: LogSource, position: Position, page: FeedPage): Promise<SignedHead> {
  const { upstream, options, parts } = run
  const { known } = position
  const head = await checkOrigin(run, source, known, page)
  if (!source.isCopy) {
    const now = parts.context.clock.now()
    if (options.accept !== 'future') checkNotAhead(head, now)
    if (options.accept !== 'freeze') checkFreshness(head, upstream.settings, now)
  }
  // The first page fixes the log's name, epoch and keys for the rest of the run.
  const keys = known.keys.length > 0 ? known.keys : head.keys
  position.known = { ...known, origin: page.origin, epoch: page.epoch, keys }
  return head
}

/**
 * Checks that the page is of the same log and signed by a trusted key. Otherwise the sync pauses and stores the keys
 * that the source offers.
 */
async function checkOrigin({ upstream }: Run, source: LogSource, known: Known, page: FeedPage): Promise<SignedHead> {
  try {
    checkIdentity(page, known)
    return await checkSignature(page, known, source, upstream.location)
  } catch (error) {
    if (!(error instanceof SyncAlarm) || !replacesKeys(error.code)) throw error
    throw new SyncAlarm(error.code, error.message, await readOfferedKeys(page, source))
  }
}

/**
 * Checks that a source that is older than the stored log has the same history. Refuses it after a pause about keys: an
 * older copy cannot verify a new key, because it lacks the newest entries.
 */
async function checkOlder(run: Run, position: Position, { treeSize, rootHash }: SignedHead): Promise<'current'> {
  const { parts, upstream } = run
  if (run.replacesKeys) throw toOlderRefusal(upstream.name, position.known, treeSize)
  const frontier = await readUpstreamFrontier(parts.context.database.read, upstream.name, treeSize)
  if (toRoot(frontier).toString('base64') === rootHash) return 'current'
  throw new SyncAlarm(
    'fork',
    `The ${treeSize} entries that the upstream signs now differ from the first ${treeSize} that it signed before.`,
  )
}

function toOlderRefusal(name: string, { origin, verified }: Known, treeSize: number): RegistryError {
  const detail = `The key of '${name}' is unchanged: this copy ends at entry ${treeSize} of ${origin}, and the mirror has ${verified}. Accept the new key with a newer copy, which \`skillstead bundle create\` makes, or with a sync over the network.`
  return new RegistryError('conflict', detail)
}

async function stagePage(run: Run, position: Position, entries: readonly FeedEntry[]): Promise<void> {
  const { writer } = run.parts.context.database
  for (let i = 0; i < entries.length; i += stagedMax) {
    requireActive(run)
    const rows = await toRows(entries.slice(i, i + stagedMax), run.upstream.location)
    const { size, frontier } = await writer.write(
      async (trx) => {
        await updateOwn(trx, run, { staged: position.staged }, { staged: position.staged })
        return stageEntries(trx, run.upstream.name, rows)
      },
      { bulk: true },
    )
    position.staged = size
    position.root = toRoot(frontier).toString('base64')
  }
}

async function toRows(entries: readonly FeedEntry[], who: string): Promise<StagedEntry[]> {
  const rows: StagedEntry[] = []
  let yieldedMs = performance.now()
  for (const entry of entries) {
    const row = toStagedRow(entry, who)
    if (Buffer.byteLength(row.entry) > limits.logEntryBytesMax) {
      throw new RegistryError(
        'upstream_failed',
        `${who} returned entry ${row.seq}, which is longer than ${limits.logEntryBytesMax} bytes, the maximum of a log.`,
      )
    }
    rows.push(row)
    if (performance.now() - yieldedMs < blockMsMax) continue
    await setImmediate()
    yieldedMs = performance.now()
  }
  return rows
}

/** An entry's canonical bytes, to which the log commits. Throws for JSON without them, such as lone surrogates. */
function toStagedRow(entry: FeedEntry, who: string): StagedEntry {
  try {
    return toStagedEntry(entry)
  } catch (cause) {
    throw new RegistryError(
      'upstream_failed',
      `${who} returned entry ${entry.seq}, which has no canonical JSON form and cannot be part of a log.`,
      { cause },
    )
  }
}

async function storeVerified(
  run: Run,
  position: Position,
  { origin, epoch }: FeedPage,
  head: SignedHead,
): Promise<void> {
  const { treeSize: verified, checkpoint, signedAt, keys } = head
  await run.parts.context.database.writer.write((trx) =>
    updateOwn(
      trx,
      run,
      {
        verified,
        checkpoint,
        checkpoint_at: signedAt ?? null,
        keys: JSON.stringify(keys),
        log_origin: origin,
        log_epoch: epoch,
        ...(run.replacesKeys && { alarm: null, settings: JSON.stringify(run.upstream.settings) }),
      },
      { staged: verified },
    ),
  )
  position.known = { origin, epoch, keys, verified }
}

async function dropUnverified(run: Run, position: Position): Promise<void> {
  const { database } = run.parts.context
  const { name } = run.upstream
  const { verified } = position.known
  await database.writer.write(async (trx) => {
    await updateOwn(trx, run, { staged: position.staged }, { staged: position.staged })
    await dropStaged(trx, name, verified)
  })
  position.staged = verified
  position.root = toRoot(await readUpstreamFrontier(database.read, name, verified)).toString('base64')
}

/**
 * Finds the pause reason when the entries do not lead to the signed root. Requests the previously verified entries once
 * more, to check whether the upstream rewrote its history.
 */
async function explainMismatch(run: Run, source: LogSource, position: Position): Promise<SyncAlarm> {
  const { verified } = position.known
  const reached = position.staged
  if (reached > verified) await dropUnverified(run, position)
  const isOther = verified > 0 && (reached === verified || (await isRewritten(run, source, verified)))
  if (isOther) {
    const sentence = `The upstream's log was replaced: the ${verified} entries that it signed before differ from the first ${verified} that it signs now.`
    return new SyncAlarm('fork', sentence)
  }
  const sentence = `Entries ${verified + 1} to ${reached} do not lead to the root that the upstream signed. The entries were altered by the upstream or in transit.`
  return new SyncAlarm('altered', sentence)
}

async function isRewritten(run: Run, source: LogSource, verified: number): Promise<boolean> {
  const { read } = run.parts.context.database
  for (let since = 0; since < verified;) {
    requireActive(run)
    const { entries } = checkPage(await source.readPage(since), since, run.upstream.location)
    const until = Math.min(verified, since + entries.length)
    const stored = await selectUpstreamEntries(read, run.upstream.name, { after: since, until })
      .select('entry')
      .execute()
    if (stored.some(({ entry }, i) => toStagedRow(entries[i]!, run.upstream.location).entry !== entry)) return true
    if (entries.length === 0) return false
    since += entries.length
  }
  return false
}
