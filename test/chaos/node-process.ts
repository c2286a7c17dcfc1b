import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { stateVariable, type MachineState } from './machine.ts'

const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
const faults = new URL('./faults-child.ts', import.meta.url).href
const saidMax = 4000

/** A node as operators run it, `skillstead serve`, on a machine whose clock and disk can be spoiled. */
export interface NodeProcess {
  readonly port: number
  /** What the clock and the disk are like, also after a restart. */
  readonly state: MachineState
  /** The furthest that its clock was ahead. */
  readonly latestMs: number
  change(change: Partial<MachineState>): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** Ends it with a signal and begins it again on the same port. */
  restart(signal: NodeJS.Signals): Promise<void>
  kill(): Promise<void>
  start(): Promise<void>
  /** Ends it in order; its exit code. */
  stop(): Promise<number>
}

/** Throws when the node ends by itself, with what it said. */
export async function startNode(args: readonly string[], onEnd: (sentence: string) => void): Promise<NodeProcess> {
  let state: MachineState = { clockMs: 0, commitMs: 0, isFull: false }
  let latestMs = 0
  let port = 0
  let child: ChildProcess
  let isWanted = false

  async function start(): Promise<void> {
    child = fork(main, ['serve', '--port', `${port}`, ...args], {
      execArgv: ['--conditions=source', '--import', faults],
      env: { PATH: process.env.PATH, [stateVariable]: JSON.stringify(state) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    isWanted = true
    const own = child
    let said = ''
    const listening = Promise.withResolvers<void>()
    const hear = (chunk: Buffer) => {
      said = (said + chunk).slice(-saidMax)
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1]
      if (!found) return
      port = Number(found)
      listening.resolve()
    }
    own.stdout!.on('data', hear)
    own.stderr!.on('data', hear)
    own.once('exit', (code, signal) => {
      if (own !== child || !isWanted) return
      const sentence = `The node ended by itself with ${signal ?? code}: ${said.trim()}`
      listening.reject(new Error(sentence))
      onEnd(sentence)
    })
    await listening.promise
  }
  async function end(signal: NodeJS.Signals): Promise<number> {
    isWanted = false
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? -1
    const closed = once(child, 'close') as Promise<[number | null]>
    child.kill(signal)
    const [code] = await closed
    return code ?? -1
  }

  await start()
  return {
    get port() {
      return port
    },
    get state() {
      return state
    },
    get latestMs() {
      return latestMs
    },
    async change(change) {
      state = { ...state, ...change }
      latestMs = Math.max(latestMs, state.clockMs)
      if (!isWanted) return
      // One that is killed meanwhile begins with it.
      const changed = Promise.race([once(child, 'message'), once(child, 'close')])
      child.send(change)
      await changed
    },
    signal: (signal) => void child.kill(signal),
    async restart(signal) {
      await end(signal)
      await start()
    },
    kill: async () => void (await end('SIGKILL')),
    start,
    stop: () => end('SIGTERM'),
  }
}
