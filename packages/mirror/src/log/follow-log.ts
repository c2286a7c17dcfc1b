import { setImmediate } from 'node:timers/promises'
import {
  dropStaged,
  readUpstreamFrontier,
  stageEntries,
  toStagedEntry,
  type StagedEntry,
} from '../store/upstream-log.ts'
import { toRoot } from '@skillstead/core/internal'
import { RegistryError, limits } from '@skillstead/protocol'
import { SyncAlarm, replacesKeys } from '../alarms.ts'
import { requireGoing, updateOwn, type Run } from '../run.ts'
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
import { withUpstreams } from '../tables/mirror-tables.ts'

/** So many entries are stored in one piece of work. */
const stagedMax = 100
/** How long making leaves of entries may hold the event loop at a time. */
const sliceMs = 10

/** How far a log is here; it is changed in place. */
export interface Position {
  known: Known
  staged: number
  /** The root of what is staged, base64. */
  root: string
}

/**
 * Brings the log of an upstream here: entries first, then, when as many are here as a signed checkpoint speaks of, the proof
 * that they lead to its root. That one check shows that the log only grew and holds every entry. What fails it is
 * dropped, and asked for once more, since it may have been altered on the way; then it is an alarm.
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
  // The first one signed is reached first, so that no more is stored at a time than somebody signed for.
  let target: SignedHead | undefined
  for (;;) {
    requireGoing(run)
    const page = checkPage(await source.readPage(position.staged), position.staged, who)
    const head = await checkHead(run, source, position, page)
    if (head.treeSize < position.known.verified) return checkOlder(run, position, head)
    // Left by a run that was killed, and of another history than the one that is signed now.
    if (head.treeSize < position.staged) return 'mismatch'
    target ??= head
    run.progress({ phase: 'staging', done: position.staged, total: head.treeSize })
    let rest: readonly FeedEntry[] = page.entries
    while (rest.length > 0 || position.staged === target.treeSize) {
      const count = target.treeSize - position.staged
      await stage(run, position, rest.slice(0, count))
      rest = rest.slice(count)
      if (position.staged < target.treeSize) break
      if (position.root !== target.rootHash) return 'mismatch'
      await keepVerified(run, position, page, target)
      if (head.treeSize === position.staged) return 'current'
      target = head
    }
    if (page.entries.length === 0) {
      throw new RegistryError(
        'upstream_failed',
        `${who} says that it has ${head.treeSize} entries, and gives none after ${position.staged}.`,
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
  // From the first page on it is one log, under one set of keys.
  const keys = known.keys.length > 0 ? known.keys : head.keys
  position.known = { ...known, origin: page.origin, epoch: page.epoch, keys }
  return head
}

/** That it is the log it was, signed by a believed key; else the alarm names the keys that it offers. */
async function checkOrigin({ upstream }: Run, source: LogSource, known: Known, page: FeedPage): Promise<SignedHead> {
  try {
    checkIdentity(page, known)
    return await checkSignature(page, known, source, upstream.location)
  } catch (error) {
    if (!(error instanceof SyncAlarm) || !replacesKeys(error.code)) throw error
    throw new SyncAlarm(error.code, error.message, await readOfferedKeys(page, source))
  }
}

/** An old copy brings nothing new, if it is of this history. It proves no new key: the newest entries are not in it. */
async function checkOlder(run: Run, position: Position, { treeSize, rootHash }: SignedHead): Promise<'current'> {
  const { parts, upstream } = run
  if (run.replacesKeys) throw toOlderRefusal(upstream.name, position.known, treeSize)
  const frontier = await readUpstreamFrontier(parts.context.database.read, upstream.name, treeSize)
  if (toRoot(frontier).toString('base64') === rootHash) return 'current'
  throw new SyncAlarm(
    'fork',
    `The ${treeSize} entries that it signs are not the first ${treeSize} of those that it signed before.`,
  )
}

function toOlderRefusal(name: string, { origin, verified }: Known, treeSize: number): RegistryError {
  const detail = `The key of '${name}' is unchanged: this copy ends at entry ${treeSize} of ${origin}, and the mirror has ${verified}. Accept the new key with a newer copy, which \`skillstead bundle create\` makes, or with a sync over the network.`
  return new RegistryError('conflict', detail)
}

async function stage(run: Run, position: Position, entries: readonly FeedEntry[]): Promise<void> {
  const { writer } = run.parts.context.database
  for (let i = 0; i < entries.length; i += stagedMax) {
    requireGoing(run)
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
  let turnedMs = performance.now()
  for (const entry of entries) {
    const row = toRow(entry, who)
    if (Buffer.byteLength(row.entry) > limits.logEntryBytesMax) {
      throw new RegistryError('upstream_failed', `${who} gives an entry ${row.seq} that is longer than one may be.`)
    }
    rows.push(row)
    if (performance.now() - turnedMs < sliceMs) continue
    await setImmediate()
    turnedMs = performance.now()
  }
  return rows
}

/** What the log commits to; there is text in JSON of which no two programs make the same bytes, and no node signs that. */
function toRow(entry: FeedEntry, who: string): StagedEntry {
  try {
    return toStagedEntry(entry)
  } catch (cause) {
    throw new RegistryError('upstream_failed', `${who} gives an entry ${entry.seq} that no log can hold.`, { cause })
  }
}

async function keepVerified(
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
 * The signed root is of other entries than came. Whether history was rewritten shows in the entries that were believed:
 * they are asked for once more.
 */
async function explainMismatch(run: Run, source: LogSource, position: Position): Promise<SyncAlarm> {
  const { verified } = position.known
  const reached = position.staged
  if (reached > verified) await dropUnverified(run, position)
  const isOther = verified > 0 && (reached === verified || (await isRewritten(run, source, verified)))
  if (isOther) {
    const sentence = `Its log is another one than before: the ${verified} entries that it signed once are not the first of those it signs now.`
    return new SyncAlarm('fork', sentence)
  }
  const sentence = `The entries from ${verified + 1} to ${reached} do not lead to the root that it signed: they were altered, by it or on the way.`
  return new SyncAlarm('altered', sentence)
}

async function isRewritten(run: Run, source: LogSource, verified: number): Promise<boolean> {
  const { read } = run.parts.context.database
  for (let since = 0; since < verified;) {
    requireGoing(run)
    const { entries } = checkPage(await source.readPage(since), since, run.upstream.location)
    const stored = await withUpstreams(read)
      .selectFrom('upstream_log')
      .select('entry')
      .where('upstream', '=', run.upstream.name)
      .where('seq', '>', since)
      .where('seq', '<=', Math.min(verified, since + entries.length))
      .orderBy('seq')
      .execute()
    if (stored.some(({ entry }, i) => toRow(entries[i]!, run.upstream.location).entry !== entry)) return true
    if (entries.length === 0) return false
    since += entries.length
  }
  return false
}
