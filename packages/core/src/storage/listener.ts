import pg from 'pg'

/** The channel of notices that something was committed to `changes`; see migration 0013. */
const channel = 'skillstead_changes'
const connectTimeoutMs = 5_000
/** Notices a connection that broke without a word. */
const keepAliveMs = 10_000
const waitMs = { least: 100, most: 10_000 }
/** How long a stop waits for the server to say goodbye. */
const goodbyeMs = 1_000

/** Hears at once what other processes commit, as long as there is a connection. */
export interface Listener {
  /** Whether it hears anything at present. */
  readonly isUp: boolean
  stop(): Promise<void>
}

/**
 * Listens on a connection of its own, for one of the pool may be anybody's. A connection that breaks is made anew, later
 * each time; what was missed meanwhile is for `onNotice`, which is called whenever the listening begins.
 */
export function listenToChanges(databaseUrl: string, onNotice: () => void): Listener {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let isUp = false
  let isStopped = false
  let failures = 0

  async function connect(): Promise<void> {
    const made = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    })
    client = made
    let isOver = false
    const end = () => {
      if (isOver) return
      isOver = true
      isUp = false
      again()
    }
    // Without a listener an error would end the process; what follows it is `end`.
    made.on('error', () => {})
    made.on('end', end)
    made.on('notification', onNotice)
    try {
      await made.connect()
      await made.query(`listen ${channel}`)
      if (isOver || isStopped) return
      isUp = true
      failures = 0
      onNotice()
    } catch {
      void made.end().catch(() => {})
      end()
    }
  }

  function again(): void {
    if (isStopped) return
    const ms = Math.min(waitMs.most, waitMs.least * 2 ** failures)
    failures += 1
    // Not all nodes at the same moment: they lost the server together.
    timer = setTimeout(() => void connect(), ms * (0.5 + Math.random() / 2)).unref()
  }

  void connect()
  return {
    get isUp() {
      return isUp
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      isUp = false
      if (client) await Promise.race([client.end().catch(() => {}), pause(goodbyeMs)])
    },
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}
