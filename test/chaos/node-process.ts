import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { stateVariable, type MachineChanged, type MachineState } from './machine.ts'

const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
const faults = new URL('./faults-child.ts', import.meta.url).href
const outputMax = 4000

/** A node run with `skillstead serve`, on a machine with a simulated clock and disk. */
export interface NodeProcess {
  readonly port: number
  /** The state of the clock and the disk. It survives a restart. */
  readonly state: MachineState
  /** The largest offset by which its clock was ever ahead. */
  readonly latestMs: number
  /** The number of its threads that were ended. */
  readonly killedThreads: number
  change(change: Partial<MachineState>): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** Ends the node with a signal and starts it again on the same port. */
  restart(signal: NodeJS.Signals): Promise<void>
  kill(): Promise<void>
  start(): Promise<void>
  /** Shuts the node down gracefully and returns its exit code. */
  stop(): Promise<number>
}

/** Starts a node. Throws, or calls `onEnd`, with its output when the node exits without being asked to. */
export async function startNode(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  onEnd: (sentence: string) => void,
): Promise<NodeProcess> {
  let state: MachineState = { clockMs: 0, commitMs: 0, isFull: false, threadKills: 0 }
  let latestMs = 0
  let killedThreads = 0
  let port = 0
  let child: ChildProcess
  let isWanted = false

  async function start(): Promise<void> {
    child = fork(main, ['serve', '--port', `${port}`, ...args], {
      execArgv: ['--conditions=source', '--import', faults],
      env: { PATH: process.env.PATH, ...env, [stateVariable]: JSON.stringify(state) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    isWanted = true
    const own = child
    let output = ''
    const listening = Promise.withResolvers<void>()
    const readOutput = (chunk: Buffer) => {
      output = (output + chunk).slice(-outputMax)
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      if (!found) return
      port = Number(found)
      listening.resolve()
    }
    own.stdout!.on('data', readOutput)
    own.stderr!.on('data', readOutput)
    own.once('exit', (code, signal) => {
      if (own !== child || !isWanted) return
      const sentence = `The node exited unexpectedly with ${signal ?? code}: ${output.trim()}`
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
    get killedThreads() {
      return killedThreads
    },
    async change(change) {
      state = { ...state, ...change }
      latestMs = Math.max(latestMs, state.clockMs)
      if (!isWanted) return
      // A node that is killed before it confirms starts with the new state.
      const changed = Promise.race([once(child, 'message'), once(child, 'close')])
      child.send(change)
      const [answer] = (await changed) as [MachineChanged | number | null]
      if (typeof answer === 'object') killedThreads += answer?.killedThreads ?? 0
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
