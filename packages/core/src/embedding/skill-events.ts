import type { Selectable } from 'kysely'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import { judgeReaders, keepSeen } from '../visibility/decisions.ts'
import type { Caller } from '../kernel/caller.ts'
import { type ChangeFollower, readLastChange } from '../log/change-follower.ts'
import { type Param, compileQuery } from '../storage/compiled-query.ts'
import type { Database } from '../storage/database.ts'
import { toRegistryError } from '../storage/storage-error.ts'
import type { Tables } from '../storage/tables.ts'

/**
 * A change of a skill that the user may see, or could see before the change. The event describes the skill as it is
 * when the event is read, so a later change may already be included and then follows as an event of its own.
 * - `published`: `version` was published.
 * - `changed`: anything else, such as new metadata, a yank, or access for this user.
 * - `removed`: the skill was deleted, hidden, taken down or made private, or got a new owner and so another name. There
 *   is no skill with this name any more that the user may see.
 * - `reset`: changes were missed, because they were deleted after a day or the registry is another one or was restored.
 *   Read all skills again; the changes after this event follow.
 */
export type SkillEvent = { readonly position: string } & (
  | { readonly type: 'published'; readonly fullName: string; readonly version: string }
  | { readonly type: 'changed' | 'removed'; readonly fullName: string }
  | { readonly type: 'reset' }
)

/** Where an iteration over events begins, and when it ends. */
export interface SkillEventOptions {
  /**
   * The position of the last processed event. Default: changes after the call, and those that other processes made
   * shortly before and that this process has not noticed yet.
   */
  readonly from?: string | undefined
  /** Ends the iteration, which then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

type ChangeRow = Selectable<Tables['changes']>
type EventContext = Pick<CatalogueContext, 'database' | 'clock' | 'changes' | 'closing' | 'origin' | 'epoch'>

/** Rows per read. A slow consumer has only the events of one page in memory; later changes stay in the database. */
const pageSize = 100
/** Longest delay that a timer of Node accepts, in milliseconds. */
const longestMs = 2 ** 31 - 1

/**
 * The changes of skills that a caller may see, those of other processes included. Ends when the registry closes; throws
 * the reason of an aborted signal. Throws a TypeError for a `from` that is no position.
 */
export function readSkillEvents(context: EventContext, caller: Caller, { from, signal }: SkillEventOptions = {}) {
  // The position is read at the call, so that changes between the call and the first event are not missed.
  const start = from === undefined ? context.changes.position : parsePosition(context, from)
  const left = new AbortController()
  const events = iterateEvents(context, caller, start, { signal, left: left.signal })
  const end = events.return.bind(events)
  // Ends the wait: leaving an iteration that waits for a change would otherwise last until the next change.
  events.return = (value) => {
    left.abort()
    return end(value)
  }
  return events
}

async function* iterateEvents(
  context: EventContext,
  caller: Caller,
  start: number,
  { signal, left }: { readonly signal: AbortSignal | undefined; readonly left: AbortSignal },
): AsyncGenerator<SkillEvent, void, undefined> {
  const { database, changes, closing } = context
  const ended = AbortSignal.any([closing, left, ...(signal ? [signal] : [])])
  let position = start
  try {
    for (;;) {
      signal?.throwIfAborted()
      if (closing.aborted || left.aborted) return
      const rows = await readChangesAfter(database, position)
      if (rows === undefined) {
        position = await readLastChange(database)
        yield { type: 'reset', position: formatPosition(context, position) }
        continue
      }
      for (const event of await toSkillEvents(context, caller, rows)) {
        if (ended.aborted) break
        yield event
      }
      position = rows.at(-1)?.seq ?? position
      if (rows.length === 0) await untilChange(changes, position, ended)
    }
  } catch (error) {
    if (!closing.aborted) throw toRegistryError(error)
  }
}

/** The next changes after a position; undefined if some changes are missing, or if the position is not of this log. */
async function readChangesAfter(database: Database, position: number): Promise<ChangeRow[] | undefined> {
  const after = { after: position }
  let rows = await selectChanges(database.read, after)
  if (rows.length === 0) {
    if ((await readLastChange(database)) === position) return rows
    // A commit between the two reads may have added changes.
    rows = await selectChanges(database.read, after)
  }
  return rows[0]?.seq === position + 1 ? rows : undefined
}

const selectChanges = compileQuery((db, param: Param<{ after: number }>) =>
  db.selectFrom('changes').selectAll().where('seq', '>', param('after')).orderBy('seq').limit(pageSize),
)

async function toSkillEvents(context: EventContext, caller: Caller, rows: readonly ChangeRow[]): Promise<SkillEvent[]> {
  const changed = rows.filter(({ kind }) => kind === 'skill')
  if (changed.length === 0) return []
  const skills = await context.database.read
    .selectFrom('skills')
    .select(['id', 'owner_id', 'visibility', 'state', 'full_name'])
    .where('id', 'in', [...new Set(changed.map(({ subject }) => subject))])
    .where('stub', '=', 0)
    .execute()
  const isReader = await judgeReaders(context.database.read, caller)
  const names = new Map((await keepSeen(context, skills, caller)).map(({ id, full_name }) => [id, full_name]))
  /** The last change of each name that the caller could see before and can no longer see. */
  const removals = new Map(
    changed
      .filter((row) => row.name_before !== names.get(row.subject) && isReader(row.readers_before))
      .map((row) => [row.name_before, row]),
  )
  return changed.flatMap((row) => {
    const { seq, name_before, version } = row
    const fullName = names.get(row.subject)
    const position = formatPosition(context, seq)
    const isRemoved = removals.get(name_before) === row
    if (fullName === undefined) return isRemoved ? [{ type: 'removed', position, fullName: name_before }] : []
    const event: SkillEvent =
      version === '' ? { type: 'changed', position, fullName } : { type: 'published', position, fullName, version }
    // The first event has the earlier position: a consumer that stops after it must receive both events of the change
    // again.
    const earlier = formatPosition(context, seq - 1)
    return isRemoved ? [{ type: 'removed', position: earlier, fullName: name_before }, event] : [event]
  })
}

/** Waits until there may be changes after a position. Only a waiting iteration is registered as a listener. */
function untilChange(changes: ChangeFollower, position: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // The connections of a registry do not keep the process alive, but a consumer that waits for changes must.
    const alive = setTimeout(end, longestMs)
    const unfollow = changes.follow(end, end)
    ended.addEventListener('abort', end, { once: true })
    if (ended.aborted || changes.position > position) end()

    function end(): void {
      clearTimeout(alive)
      unfollow()
      ended.removeEventListener('abort', end)
      resolve()
    }
  })
}

/** A position names the registry and its epoch, so that the position of another registry is recognised. */
function formatPosition({ origin, epoch }: EventContext, seq: number): string {
  return [origin, epoch, seq].join('+')
}

/**
 * The number of a change; -1 for the position of another registry or an earlier epoch. No change has the next number,
 * 0, so that the iteration begins with a `reset`.
 */
function parsePosition({ origin, epoch }: EventContext, position: string): number {
  const found = /^([^+]+)\+(\d+)\+(\d+)$/.exec(position)
  if (!found) throw new TypeError('`from` must be the position of an earlier event.')
  return found[1] === origin && found[2] === `${epoch}` ? Number(found[3]) : -1
}
