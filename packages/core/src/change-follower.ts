import type { Database } from './storage/database.ts'
import type { ChangeKind } from './storage/tables.ts'

/** One change of the catalogue, as everything that keeps a copy of it needs to know. */
export interface Change {
  readonly seq: number
  readonly kind: ChangeKind
  readonly subject: string
}

/**
 * Reads the change sequence and tells what keeps copies: the search index, kept answers, waiting feeds. Changes of this
 * process arrive before their writers are answered, those of others within a poll.
 */
export interface ChangeFollower {
  readonly position: number
  /**
   * Listeners are called in the order they came, with changes in their order. One that throws is called again with the
   * same changes at the next look, so that no copy stays behind for ever; the others go on meanwhile.
   */
  follow(listener: (changes: readonly Change[]) => Promise<void> | void): void
  catchUp(): Promise<void>
  stop(): Promise<void>
}

interface Follower {
  readonly listener: (changes: readonly Change[]) => Promise<void> | void
  /** What the listener could not take. */
  missed: readonly Change[]
}

const pageSize = 1000
const pollMs = 1000

export async function createChangeFollower(
  database: Database,
  onError: (error: unknown) => void,
): Promise<ChangeFollower> {
  const followers: Follower[] = []
  let position = await readHead(database)
  let running: Promise<void> | undefined
  let again = false

  async function read(): Promise<void> {
    try {
      do {
        again = false
        for (;;) {
          const rows = await readChanges(database, position)
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

  async function deliver(follower: Follower, changes: readonly Change[]): Promise<void> {
    const due = [...follower.missed, ...changes]
    if (due.length === 0) return
    try {
      await follower.listener(due)
      follower.missed = []
    } catch (error) {
      follower.missed = due
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
  const timer = setInterval(() => void catchUp(), pollMs)
  timer.unref()
  return {
    get position() {
      return position
    },
    follow: (listener) => void followers.push({ listener, missed: [] }),
    catchUp,
    async stop() {
      clearInterval(timer)
      await running
    },
  }
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
  return database.read
    .selectFrom('changes')
    .select(['seq', 'kind', 'subject'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(pageSize)
    .execute()
}
