import { fork, type ChildProcess, type Serializable } from 'node:child_process'
import { once } from 'node:events'
import { globSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { RegistryOptions } from '@skillstead/core'
import { bundleClone } from '../../packages/cli/packing/bundle-clone.ts'
import { youngFlag } from '../../packages/cli/src/engine-flags.ts'
import type { StatementTime } from './profiler.ts'
import { makeScratch } from './scratch.ts'

export interface ChildOptions {
  readonly registry: RegistryOptions
}

/** What a node says of itself: its memory, and the longest that its event loop was blocked since it was asked last. */
interface Vitals {
  readonly rssMib: number
  readonly delayMaxMs: number
  /** As `delayMaxMs`, in processor time of the event loop's thread; measured after the question `turns`. */
  readonly turnCpuMs: number
  /** CPU time since the start, of all threads and of that of the event loop. */
  readonly cpuMs: number
  readonly threadCpuMs: number
}

export interface Child {
  readonly url: string
  readonly pid: number
  /** `profile` also begins to record a CPU profile, and `turns` to measure turns of the event loop. */
  vitals(when?: 'warm' | 'now' | 'profile' | 'turns'): Promise<Vitals>
  /** Writes the CPU profile of the event loop into a file; returns the statements that ran meanwhile, longest first. */
  stopProfile(file: string): Promise<StatementTime[]>
  stop(): Promise<void>
}

/** A node on a free port, in a process of its own; from the sources in the workspace `root` if it is given. */
export function startNode(registry: RegistryOptions, root?: string): Promise<Child> {
  return start('./node-child.ts', JSON.stringify({ registry }), root)
}

/** What the bare server answers: as many bytes for each address, with these headers and the length. */
export interface BareAnswers {
  readonly sizes: Readonly<Record<string, number>>
  readonly headers: Readonly<Record<string, string>>
}

const bareHeaders = { 'content-type': 'application/json; charset=utf-8' }

/** The bare server on a free port. Default: only the headers that any answer needs. */
export function startBare({ sizes, headers = bareHeaders }: Partial<BareAnswers>): Promise<Child> {
  const file = join(makeScratch('bare'), 'answers.json')
  writeFileSync(file, JSON.stringify({ sizes, headers }))
  return start('./bare-child.ts', file)
}

/** A server with `git http-backend` on a free port, for the repositories below a folder. */
export function startGitBackend(root: string): Promise<Child> {
  return start('./git-backend-child.ts', root)
}

const living = new Set<ChildProcess>()
process.once('exit', endProcesses)

/** A process that is not to outlive this one, nor the part that began it. */
export function watchProcess(child: ChildProcess): void {
  living.add(child)
  child.once('exit', () => living.delete(child))
}

/** Ends what a part that failed left running: it would slow the next one. */
export function endProcesses(): void {
  for (const child of living) child.kill('SIGKILL')
}

async function start(module: string, argument: string, root?: string): Promise<Child> {
  const { ready, pid, ask, stop } = await startProcess<{ port: number }>(module, argument, root)
  const vitals = (when = 'now') => ask<Vitals>(when)
  const stopProfile = (file: string) => ask<StatementTime[]>({ stopProfile: file })
  return { url: `http://127.0.0.1:${ready.port}`, pid, vitals, stopProfile, stop }
}

let bundled: Promise<string> | undefined
let compiled: string | undefined

/**
 * A folder with all programs of this folder that are processes of the benchmark, bundled as `start` bundles the command of
 * a clone: this is what people run, and modules one by one, with their types taken out, need more memory and time.
 */
async function bundleChildren(): Promise<string> {
  const folder = makeScratch('children')
  const files = globSync('*-child.ts', { cwd: import.meta.dirname })
  await bundleClone(folder, Object.fromEntries(files.map((file) => [toName(file), join(import.meta.dirname, file)])))
  return folder
}

const toName = (file: string) => basename(file, '.ts')

/**
 * A process of the benchmark that says when it is ready, and then answers one question after another. It runs from the
 * sources in `root`, or from the bundle of this workspace.
 */
export async function startProcess<Ready>(module: string, argument: string, root?: string) {
  const file =
    root === undefined
      ? join(await (bundled ??= bundleChildren()), `${toName(module)}.js`)
      : join(root, 'test/bench', module)
  const execArgv = [...(root === undefined ? [] : ['--conditions=source']), youngFlag, '--expose-gc']
  // As the command does: what a process of this run compiled need not be compiled again, in the next and in threads.
  const env = { NODE_COMPILE_CACHE: (compiled ??= makeScratch('compiled')), ...process.env }
  const child = fork(file, [argument], { execArgv, env })
  watchProcess(child)
  return {
    ready: await receive<Ready>(child),
    pid: child.pid!,
    ask<T>(question: Serializable): Promise<T> {
      child.send(question)
      return receive<T>(child)
    },
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

async function receive<T>(child: ChildProcess): Promise<T> {
  const waiting = new AbortController()
  const { signal } = waiting
  const ended = once(child, 'exit', { signal }).then(([code]) =>
    Promise.reject(new Error(`A process of the benchmark ended with ${code}.`)),
  )
  const [message] = (await Promise.race([once(child, 'message', { signal }), ended])) as [T]
  ended.catch(() => {})
  waiting.abort()
  return message
}
