import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { readErrorCode } from '@skillstead/protocol'

/** What is run, and its limits. */
export interface ChildOptions {
  readonly words: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Text for standard input. */
  readonly input: string
  readonly timeoutMs: number
  /** Bytes of standard output and standard error together. */
  readonly outputBytesMax: number
  /** Stops the child when it is aborted. */
  readonly signal: AbortSignal
}

/** How a child ended: by itself, or stopped because of a limit or an interruption. */
export interface ChildEnd {
  readonly ending: 'exit' | 'timeout' | 'output' | 'interrupted'
  /** The exit code; 128 and the number of the signal for a child that a signal ended. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly seconds: number
}

/** A command that cannot be started. The message is a sentence. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** The time between SIGTERM and SIGKILL, in milliseconds. */
const graceMs = 500
/**
 * The maximum times to wait, in milliseconds: for the pipes, which a process that left the group may keep open; and for
 * a killed process, which may be blocked in the kernel.
 */
const drainMs = 500
const unkillableMs = 5000

/** The process groups that run now. They are killed if this process ends. */
const groups = new Set<number>()

/**
 * Runs a command in a process group of its own. When the command ends, and at a limit, the whole group is killed, so
 * that no process which it started continues, unless that process left the group. Output above the limit is not stored.
 * Throws {@link StartError}.
 */
export async function runChild(options: ChildOptions): Promise<ChildEnd> {
  const { words, cwd, env, input, timeoutMs, outputBytesMax, signal } = options
  const [program, ...args] = words
  const startedMs = performance.now()
  const child = spawnGroup(program, args, { cwd, env })
  try {
    await once(child, 'spawn')
  } catch (error) {
    throw toStartError(program, error)
  }
  // Errors after the start are those of pipes and of `kill`, and need no handling.
  child.on('error', () => undefined)
  const group = child.pid!
  addGroup(group)
  let ending: ChildEnd['ending'] = 'exit'
  const unkillable = Promise.withResolvers<undefined>()
  const timers: NodeJS.Timeout[] = []
  const stop = (reason: ChildEnd['ending']) => {
    if (ending !== 'exit') return
    ending = reason
    killGroup(group, 'SIGTERM')
    timers.push(setTimeout(() => killGroup(group, 'SIGKILL'), graceMs))
    timers.push(setTimeout(() => unkillable.resolve(undefined), unkillableMs))
  }
  const chunks: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] }
  let left = outputBytesMax
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('error', () => undefined)
    child[name].on('data', (chunk: Buffer) => {
      if (left > 0) chunks[name].push(chunk.subarray(0, left))
      left -= chunk.length
      if (left < 0) stop('output')
    })
  }
  const interrupt = () => stop('interrupted')
  signal.addEventListener('abort', interrupt, { once: true })
  const limit = setTimeout(() => stop('timeout'), timeoutMs)
  if (signal.aborted) interrupt()
  // A command may end without reading its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const closed = once(child, 'close')
  try {
    await Promise.race([once(child, 'exit'), unkillable.promise])
    const { exitCode, signalCode } = child
    const seconds = (performance.now() - startedMs) / 1000
    // From here on only the output limit applies, to the data that is still in the pipes.
    clearTimeout(limit)
    signal.removeEventListener('abort', interrupt)
    killGroup(group, 'SIGKILL')
    await Promise.race([closed, sleep(drainMs, undefined, { ref: false })])
    const { stdout, stderr } = chunks
    return {
      ending,
      code: exitCode ?? 128 + (constants.signals[signalCode ?? 'SIGKILL'] ?? 0),
      stdout: Buffer.concat(stdout).toString(),
      stderr: Buffer.concat(stderr).toString(),
      seconds,
    }
  } finally {
    for (const timer of [limit, ...timers]) clearTimeout(timer)
    signal.removeEventListener('abort', interrupt)
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    removeGroup(group)
  }
}

function spawnGroup(program: string, args: readonly string[], place: { cwd: string; env: NodeJS.ProcessEnv }) {
  try {
    return spawn(program, args, { ...place, detached: true, windowsHide: true, stdio: ['pipe', 'pipe', 'pipe'] })
  } catch (error) {
    // `spawn` itself throws, for example for arguments that are too long or contain a NUL.
    throw toStartError(program, error)
  }
}

function toStartError(program: string, cause: unknown): StartError {
  const code = readErrorCode(cause) ?? 'unknown error'
  return new StartError(`'${program}' cannot be started (${code}). Check that it is installed, and its path.`, {
    cause,
  })
}

function killGroup(group: number, signal: NodeJS.Signals): void {
  try {
    if (process.platform === 'win32') spawnSync('taskkill', ['/pid', String(group), '/T', '/F'])
    else process.kill(-group, signal)
  } catch {
    // The group has ended.
  }
}

function addGroup(group: number): void {
  if (groups.size === 0) process.on('exit', killGroups)
  groups.add(group)
}

function removeGroup(group: number): void {
  groups.delete(group)
  if (groups.size === 0) process.off('exit', killGroups)
}

function killGroups(): void {
  for (const group of groups) killGroup(group, 'SIGKILL')
}
