import pg from 'pg'

/** The notification channel for commits to `changes`; see migration 0013. */
const channel = 'skillstead_changes'
const connectTimeoutMs = 5_000
/** Detects connections that broke without notice. */
const keepAliveMs = 10_000
const waitMs = { least: 100, most: 10_000 }
/** How long a stop waits for the server to close the connection. */
const goodbyeMs = 1_000

/** Receives notifications of commits while it is connected. */
export interface Listener {
  /** Whether it is connected and listening. */
  readonly isUp: boolean
  stop(): Promise<void>
}

/**
 * Listens on a dedicated connection, because connections of the pool change hands. Reconnects with increasing delays.
 * Notifications may be missed meanwhile, so `onNotice` is also called each time listening begins.
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
    // An error without a listener would end the process. The event `end` follows each error.
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
    // Jitter: all nodes lost the server at the same time, and should not reconnect at once.
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
