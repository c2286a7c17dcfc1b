import { keepCompiled } from '../storage/compiled-query.ts'
import type { Database } from '../storage/database.ts'
import type { ChangeKind } from '../storage/tables.ts'

/** One change of the catalogue, as everything that keeps a copy of it needs to know. */
export interface Change {
  readonly seq: number
  readonly kind: ChangeKind
  readonly subject: string
}

/**
 * Reads the change sequence and tells what keeps copies: the search index, kept answers, waiting feeds. Changes of this
 * process arrive before their writers are answered; those of others as soon as the database gives notice of them, and
 * within a poll where it cannot, or the connection for notices is away.
 *
 * Reading on from the last number that was seen misses nothing: numbers are given under the lock of the head row, which a
 * transaction keeps until everybody sees what it committed, so that no number appears after a higher one. And they have no
 * gaps: where one shows, changes were swept while this process was away, or the database went back to an older state, and
 * then everything that is kept is made anew.
 */
export interface ChangeFollower {
  readonly position: number
  /** Whether notices come at present; undefined where the database gives none. */
  readonly isNoticed: boolean | undefined
  /**
   * Listeners are called in the order they came, with changes in their order. One that throws is called again with the
   * same changes at the next look, so that no copy stays behind for ever; the others go on meanwhile. `startAnew` forgets
   * whatever is kept, of changes that nobody can tell any more.
   */
  follow(listener: Follower['listener'], startAnew: Follower['startAnew']): void
  catchUp(): Promise<void>
  stop(): Promise<void>
}

interface Follower {
  readonly listener: (changes: readonly Change[]) => Promise<void> | void
  readonly startAnew: () => Promise<void> | void
  /** What the listener could not take. */
  missed: readonly Change[]
  /** Whether it is to start anew before it is told anything. */
  isLost: boolean
}

const pageSize = 1000
/** For a listener that cannot take more than this, starting anew is less. */
const missedMax = 10_000
/** Also while notices come: one may have got lost with its connection, and nobody knows it yet. */
const pollMsDefault = 1000

export async function createChangeFollower(
  database: Database,
  onError: (error: unknown) => void,
  pollMs = pollMsDefault,
): Promise<ChangeFollower> {
  const followers: Follower[] = []
  let position = await readHead(database)
  let running: Promise<void> | undefined
  let again = false
  /** Whether no change is no proof that there was none. */
  let isDoubtful = false

  async function read(): Promise<void> {
    try {
      do {
        again = false
        for (;;) {
          const rows = await readChanges(database, position)
          if (await lacksSome(rows)) {
            await startAnew()
            continue
          }
          // First, so that nobody who began to read before these changes keeps what was read.
          position = rows.at(-1)?.seq ?? position
          const changes = rows.flatMap(toChanges)
          for (const follower of followers) await deliver(follower, changes)
          if (rows.length < pageSize) break
        }
      } while (again)
    } catch (error) {
      onError(error)
    } finally {
      // In the turn of the last look at `again`: whoever asks a moment later must not be given this reading.
      running = undefined
    }
  }

  /** Whether changes are gone that were never seen here. */
  async function lacksSome([first]: readonly Change[]): Promise<boolean> {
    if (first) return first.seq !== position + 1
    if (!isDoubtful) return false
    isDoubtful = false
    if ((await readHead(database)) === position) return false
    // Something may have been committed a moment ago.
    const [next] = await readChanges(database, position)
    return next?.seq !== position + 1
  }

  async function startAnew(): Promise<void> {
    position = await readHead(database)
    for (const follower of followers) lose(follower)
  }

  async function deliver(follower: Follower, changes: readonly Change[]): Promise<void> {
    follower.missed = [...follower.missed, ...changes]
    try {
      if (follower.isLost) await follower.startAnew()
      follower.isLost = false
      if (follower.missed.length > 0) await follower.listener(follower.missed)
      follower.missed = []
    } catch (error) {
      if (follower.missed.length > missedMax) lose(follower)
      onError(error)
    }
  }

  /** Everyone who asks while a reading is under way waits for one that began after they asked. */
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
    follow: (listener, forget) => void followers.push({ listener, startAnew: forget, missed: [], isLost: false }),
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

async function readHead(database: Database): Promise<number> {
  const head = await database.read.selectFrom('heads').select('change_seq').executeTakeFirstOrThrow()
  return head.change_seq
}

/** Counters change by the hundred; one row tells of all that were written together. */
function toChanges({ seq, kind, subject }: Change): Change[] {
  return subject.split(',').map((each) => ({ seq, kind, subject: each }))
}

function readChanges(database: Database, after: number): Promise<Change[]> {
  return selectChanges(database.read, { after })
}

const selectChanges = keepCompiled((db, { after }: { after: number }) =>
  db.selectFrom('changes').select(['seq', 'kind', 'subject']).where('seq', '>', after).orderBy('seq').limit(pageSize),
)
