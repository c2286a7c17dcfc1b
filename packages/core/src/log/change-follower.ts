import { type Param, compileQuery } from '../storage/compiled-query.ts'
import type { Database } from '../storage/database.ts'
import type { Tables } from '../storage/tables.ts'

/** One change of the catalogue, as published to caches and indexes. */
export type Change = Readonly<Pick<Tables['changes'], 'seq' | 'kind' | 'subject'>>

interface ChangeListener {
  readonly listener: (changes: readonly Change[]) => Promise<void> | void
  readonly reset: () => Promise<void> | void
  /** Changes that the listener has not processed. */
  missed: readonly Change[]
  /** Whether changes were dropped, so that `reset` must be called before the next changes are delivered. */
  isLost: boolean
}

const pageSize = 1000
/** Maximum missed changes of a listener that fails. Above it, a reset is cheaper than delivering the changes. */
const missedMax = 10_000
/**
 * Milliseconds between polls, even while notifications work: a notification may be lost when its connection fails,
 * before the failure is detected.
 */
const pollMsDefault = 1000

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
export class ChangeFollower {
  readonly #database: Database
  readonly #onError: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  readonly #notices: ReturnType<NonNullable<Database['listen']>> | undefined
  // The list is replaced, never changed in place: listeners that wait for one change are added and removed while other
  // listeners are called.
  #followers: readonly ChangeListener[] = []
  #position: number
  #running: Promise<void> | undefined
  #again = false
  /** Whether the next read is a poll. A poll without changes checks the last number: unread changes may be deleted. */
  #isDoubtful = false

  private constructor(database: Database, position: number, onError: (error: unknown) => void, pollMs: number) {
    this.#database = database
    this.#position = position
    this.#onError = onError
    database.writer.onCommit(() => this.catchUp())
    this.#timer = setInterval(() => {
      this.#isDoubtful = true
      void this.catchUp()
    }, pollMs)
    this.#timer.unref()
    this.#notices = database.listen?.(() => void this.catchUp())
  }

  /** Starts at the last change that the database has. */
  static async open(
    database: Database,
    onError: (error: unknown) => void,
    pollMs: number = pollMsDefault,
  ): Promise<ChangeFollower> {
    return new ChangeFollower(database, await readLastChange(database), onError, pollMs)
  }

  get position(): number {
    return this.#position
  }

  /** Whether the database sends notifications at present; undefined on SQLite, which has none. */
  get isNoticed(): boolean | undefined {
    return this.#notices?.isUp
  }

  /**
   * Registers a listener. Listeners are called in the order of registration, with changes in their order. After a
   * listener throws, it receives the same changes again at the next poll, so no copy stays outdated; the other
   * listeners continue. `reset` discards the copy, because changes were missed. The returned function removes the
   * listener.
   */
  follow(listener: ChangeListener['listener'], reset: ChangeListener['reset']): () => void {
    const follower: ChangeListener = { listener, reset, missed: [], isLost: false }
    this.#followers = [...this.#followers, follower]
    return () => {
      this.#followers = this.#followers.filter((other) => other !== follower)
    }
  }

  /** Resolves after a read that began after this call. Calls during a read share the next read. */
  catchUp(): Promise<void> {
    this.#again = true
    this.#running ??= this.#read()
    return this.#running
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#notices?.stop()
    await this.#running
  }

  async #read(): Promise<void> {
    try {
      do {
        this.#again = false
        while (await this.#readPage());
      } while (this.#again)
    } catch (error) {
      this.#onError(error)
    } finally {
      // Clear `#running` in the same turn of the event loop as the last check of `#again`: a later caller must not get
      // a read that is already complete.
      this.#running = undefined
    }
  }

  /** Reads and delivers a page of changes. Returns whether there may be more. */
  async #readPage(): Promise<boolean> {
    const rows = await selectChanges(this.#database.read, { after: this.#position })
    if (await this.#lacksSome(rows)) {
      this.#position = await readLastChange(this.#database)
      for (const follower of this.#followers) loseChanges(follower)
      return true
    }
    // Advance the position before listeners run, so that a reader that started earlier does not cache outdated data.
    this.#position = rows.at(-1)?.seq ?? this.#position
    const changes = rows.flatMap(toSingleChanges)
    for (const follower of this.#followers) await this.#deliver(follower, changes)
    return rows.length === pageSize
  }

  /** Whether changes were deleted before this process read them. */
  async #lacksSome([first]: readonly Change[]): Promise<boolean> {
    if (first) return first.seq !== this.#position + 1
    if (!this.#isDoubtful) return false
    this.#isDoubtful = false
    if ((await readLastChange(this.#database)) === this.#position) return false
    // Another commit may have added a change after the first read.
    const [next] = await selectChanges(this.#database.read, { after: this.#position })
    return next?.seq !== this.#position + 1
  }

  async #deliver(follower: ChangeListener, changes: readonly Change[]): Promise<void> {
    follower.missed = [...follower.missed, ...changes]
    try {
      if (follower.isLost) await follower.reset()
      follower.isLost = false
      if (follower.missed.length > 0) await follower.listener(follower.missed)
      follower.missed = []
    } catch (error) {
      if (follower.missed.length > missedMax) loseChanges(follower)
      this.#onError(error)
    }
  }
}

function loseChanges(follower: ChangeListener): void {
  follower.missed = []
  follower.isLost = true
}

/** The number of the last change. */
export async function readLastChange(database: Database): Promise<number> {
  const head = await database.read.selectFrom('heads').select('change_seq').executeTakeFirstOrThrow()
  return head.change_seq
}

/** Splits a change by subject: a row of counter updates can list many subjects, separated by commas. */
function toSingleChanges({ seq, kind, subject }: Change): Change[] {
  return subject.split(',').map((each) => ({ seq, kind, subject: each }))
}

const selectChanges = compileQuery((db, param: Param<{ after: number }>) =>
  db
    .selectFrom('changes')
    .select(['seq', 'kind', 'subject'])
    .where('seq', '>', param('after'))
    .orderBy('seq')
    .limit(pageSize),
)
