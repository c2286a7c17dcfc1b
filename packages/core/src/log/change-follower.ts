import { type Param, compileQuery } from '../storage/compiled-query.ts'
import type { Database } from '../storage/database.ts'
import type { ChangeKind } from '../storage/tables.ts'

/** One change of the catalogue, as published to caches and indexes. */
export interface Change {
  readonly seq: number
  readonly kind: ChangeKind
  readonly subject: string
}

/**
 * Reads the changes of the database and notifies listeners that hold copies of data: the search index, the response
 * cache, long polls of the feed. Listeners receive changes of this process before the write returns. They receive
 * changes of other processes when PostgreSQL sends a notification, and otherwise at the next poll: on SQLite, or while
 * the connection for notifications is down.
 *
 * No change is missed, because no number appears after a higher one: a number is assigned under the lock of the head
 * row, which a transaction holds until its commit is visible. Numbers have no gaps. A gap therefore means that
 * retention deleted changes before this process read them, or that the database was restored to an older state; all
 * copies are then rebuilt.
 */
export interface ChangeFollower {
  readonly position: number
  /** Whether the database sends notifications at present; undefined on SQLite, which has none. */
  readonly isNoticed: boolean | undefined
  /**
   * Registers a listener. Listeners are called in the order of registration, with changes in their order. After a
   * listener throws, it receives the same changes again at the next poll, so no copy stays outdated; the other
   * listeners continue. `reset` discards the copy, because changes were missed. The returned function removes the
   * listener.
   */
  follow(listener: Follower['listener'], reset: Follower['reset']): () => void
  catchUp(): Promise<void>
  stop(): Promise<void>
}

interface Follower {
  readonly listener: (changes: readonly Change[]) => Promise<void> | void
  readonly reset: () => Promise<void> | void
  /** Changes that the listener has not processed. */
  missed: readonly Change[]
  /** Whether `reset` must be called before the next changes. */
  isLost: boolean
}

const pageSize = 1000
/** Number of missed changes above which a reset is cheaper than delivering them. */
const missedMax = 10_000
/**
 * Poll also while notifications work: a notification may be lost when its connection fails, before the failure is
 * detected.
 */
const pollMsDefault = 1000

export async function createChangeFollower(
  database: Database,
  onError: (error: unknown) => void,
  pollMs = pollMsDefault,
): Promise<ChangeFollower> {
  // Replaced instead of changed: a listener that waits for the next change comes and goes while others are called.
  let followers: readonly Follower[] = []
  let position = await readHead(database)
  let running: Promise<void> | undefined
  let again = false
  /** Set by each poll. If it finds no change, the last number is read too, as unread changes may have been deleted. */
  let isDoubtful = false

  async function read(): Promise<void> {
    try {
      do {
        again = false
        for (;;) {
          const rows = await readChanges(database, position)
          if (await lacksSome(rows)) {
            await reset()
            continue
          }
          // Advance the position before listeners run, so that a reader that started earlier does not cache outdated
          // data.
          position = rows.at(-1)?.seq ?? position
          const changes = rows.flatMap(toChanges)
          for (const follower of followers) await deliver(follower, changes)
          if (rows.length < pageSize) break
        }
      } while (again)
    } catch (error) {
      onError(error)
    } finally {
      // Clear this in the same turn of the event loop as the last check of `again`: a later caller must not get a read
      // that is already complete.
      running = undefined
    }
  }

  /** Whether changes were deleted before this process read them. */
  async function lacksSome([first]: readonly Change[]): Promise<boolean> {
    if (first) return first.seq !== position + 1
    if (!isDoubtful) return false
    isDoubtful = false
    if ((await readHead(database)) === position) return false
    // Another commit may have added a change after the first read.
    const [next] = await readChanges(database, position)
    return next?.seq !== position + 1
  }

  async function reset(): Promise<void> {
    position = await readHead(database)
    for (const follower of followers) lose(follower)
  }

  async function deliver(follower: Follower, changes: readonly Change[]): Promise<void> {
    follower.missed = [...follower.missed, ...changes]
    try {
      if (follower.isLost) await follower.reset()
      follower.isLost = false
      if (follower.missed.length > 0) await follower.listener(follower.missed)
      follower.missed = []
    } catch (error) {
      if (follower.missed.length > missedMax) lose(follower)
      onError(error)
    }
  }

  /** Resolves after a read that began after this call. Calls during a read share the next read. */
  function catchUp(): Promise<void> {
    again = true
    running ??= read()
    return running
  }

  database.writer.onCommit(catchUp)
  const timer = setInterval(() => {
    isDoubtful = true
    void catchUp()
  }, pollMs)
  timer.unref()
  const notices = database.listen?.(() => void catchUp())
  return {
    get position() {
      return position
    },
    get isNoticed() {
      return notices?.isUp
    },
    follow(listener, forget) {
      const follower: Follower = { listener, reset: forget, missed: [], isLost: false }
      followers = [...followers, follower]
      return () => {
        followers = followers.filter((other) => other !== follower)
      }
    },
    catchUp,
    async stop() {
      clearInterval(timer)
      await notices?.stop()
      await running
    },
  }
}

function lose(follower: Follower): void {
  follower.missed = []
  follower.isLost = true
}

/** The number of the last change. */
export async function readHead(database: Database): Promise<number> {
  const head = await database.read.selectFrom('heads').select('change_seq').executeTakeFirstOrThrow()
  return head.change_seq
}

/** A row of counter updates can list many subjects, separated by commas. */
function toChanges({ seq, kind, subject }: Change): Change[] {
  return subject.split(',').map((each) => ({ seq, kind, subject: each }))
}

function readChanges(database: Database, after: number): Promise<Change[]> {
  return selectChanges(database.read, { after })
}

const selectChanges = compileQuery((db, param: Param<{ after: number }>) =>
  db
    .selectFrom('changes')
    .select(['seq', 'kind', 'subject'])
    .where('seq', '>', param('after'))
    .orderBy('seq')
    .limit(pageSize),
)
