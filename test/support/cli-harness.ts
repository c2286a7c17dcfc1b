import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { WriteStream } from 'node:tty'
import { fileURLToPath } from 'node:url'
import type { Io } from '../../packages/cli/src/terminal/io.ts'
import { run } from '../../packages/cli/src/run.ts'
import { toChildEnvironment } from './child-environment.ts'
import { onFileFinished } from './file-end.ts'
import { timed } from './phases.ts'

/** The executable. */
export const mainFile = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

/** A command that hangs would block the later ones with a `cwd`, also those of other test files. */
const commandMsMax = 100_000

/** An empty folder: the tests do not use the logins of the user who runs them. */
const noConfig = join(tmpdir(), `skillstead-config-${process.pid}`)

interface RunOptions {
  readonly cwd?: string
  /** How long a command with a `cwd` may take in this process. Default: 100 s, less than a test may take. */
  readonly timeoutMs?: number
  /** More variables; undefined removes one. */
  readonly env?: Record<string, string | undefined>
  readonly input?: string
  /** Standard input of a command in this process, instead of `input`. */
  readonly stdin?: Readable
  /** Whether its outputs are terminals, for commands in this process. */
  readonly isTerminal?: boolean
}

/** The output of a finished command. */
export interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a TypeScript file of the project in a process of its own. */
export function runFile(file: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const env = toEnv(options.env)
  const work = () =>
    new Promise<Finished>((resolve) => {
      const child = execFile(
        process.execPath,
        ['--conditions=source', file, ...args],
        { cwd: options.cwd, env, maxBuffer: 16 * 1024 * 1024 },
        (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      )
      child.stdin?.end(options.input)
    })
  return timed('process', work)
}

/**
 * Runs a command line in this process, which saves the start of another one. Commands with a `cwd` run one after the
 * other: a process has one working directory.
 */
export async function skillstead(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const [stdout, stderr] = [createSink(), createSink()]
  if (options.isTerminal) for (const sink of [stdout, stderr]) Object.assign(sink, { isTTY: true, getColorDepth })
  const overdue = new AbortController()
  const input = options.input === undefined ? [] : [Buffer.from(options.input)]
  const io: Io = {
    env: toEnv(options.env),
    stdin: options.stdin ?? Readable.from(input, { objectMode: false }),
    stdout,
    stderr,
    interruption: () => overdue.signal,
  }
  const work = async () => {
    const { timeoutMs = commandMsMax } = options
    const timer = setTimeout(() => overdue.abort(), timeoutMs)
    const late = once(overdue.signal, 'abort').then(() => {
      const output = stdout.text() + stderr.text()
      throw new Error(
        `\`skillstead ${args.join(' ')}\` did not end within ${timeoutMs / 1000} s. Its output: ${output}`,
      )
    })
    try {
      return await Promise.race([run(args, io), late])
    } finally {
      clearTimeout(timer)
    }
  }
  const code = options.cwd === undefined ? await run(args, io) : await inFolder(options.cwd, work)
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

/** Runs a command line in a process of its own: for tests of processes, their signals, pipes and environment. */
export function skillsteadProcess(args: readonly string[], options?: RunOptions): Promise<Finished> {
  return runFile(mainFile, args, options)
}

function toEnv(env: RunOptions['env']): NodeJS.ProcessEnv {
  return toChildEnvironment({ XDG_CONFIG_HOME: noConfig, ...env })
}

const { getColorDepth } = WriteStream.prototype

/** Keeps what is written to it. */
function createSink(onText?: (text: string) => void) {
  const chunks: Buffer[] = []
  const text = () => Buffer.concat(chunks).toString()
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      onText?.(text())
      done()
    },
  })
  return Object.assign(sink, { text })
}

let lastInFolder: Promise<unknown> = Promise.resolve()

function inFolder<T>(cwd: string, work: () => Promise<T>): Promise<T> {
  const turn = lastInFolder.then(async () => {
    const before = process.cwd()
    process.chdir(cwd)
    try {
      return await work()
    } finally {
      process.chdir(before)
    }
  })
  lastInFolder = turn.catch(() => undefined)
  return turn
}

/** Runs a command line that must succeed, and reads its one line of JSON. */
export async function skillsteadJson<T>(args: readonly string[], options?: RunOptions): Promise<T> {
  const { code, stdout, stderr } = await skillstead([...args, '--json'], options)
  if (code !== 0) throw new Error(`skillstead ${args.join(' ')} failed: ${stderr}`)
  const lines = stdout.trimEnd().split('\n')
  if (lines.length !== 1) throw new Error(`skillstead ${args.join(' ')} printed ${lines.length} lines.`)
  return JSON.parse(lines[0]!) as T
}

/** A command that runs until it is interrupted. */
export interface Running {
  readonly url: string
  /** Its output so far. */
  readonly said: () => string
  /** Interrupts it and waits for the end; its exit code. */
  stop(): Promise<number>
}

/** A node in this process. */
interface RunningHere extends Running {
  /** Acts as a SIGHUP. */
  hangUp(): void
}

/** Starts `serve` in this process, and waits until it listens. The end of the test file stops it. */
export function startServer(args: readonly string[], { env }: Pick<RunOptions, 'env'> = {}): Promise<RunningHere> {
  const interruption = new AbortController()
  return new Promise((resolve, reject) => {
    const listen = (text: string) => {
      const url = findAddress(text)
      if (url) resolve(running(url))
    }
    const [stdout, stderr] = [createSink(listen), createSink(listen)]
    let hangUp: (() => void) | undefined
    const io = {
      env: toEnv(env),
      stdin: Readable.from([]),
      stdout,
      stderr,
      interruption: () => interruption.signal,
      onHangUp: (listener: () => void) => void (hangUp = listener),
    }
    const ended = run(args, io)
    const said = () => stdout.text() + stderr.text()
    void ended.then((code) => reject(new Error(`It ended with ${code}: ${said()}`)))
    function running(url: string): RunningHere {
      const server: RunningHere = {
        url,
        said,
        hangUp: () => hangUp?.(),
        stop() {
          interruption.abort()
          return ended
        },
      }
      onFileFinished(() => server.stop())
      return server
    }
  })
}

/** A process that runs until a signal ends it. */
export interface RunningProcess extends Running {
  /** Sends a signal, SIGTERM by default, and waits for the end; its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>
}

/** Starts `serve` or `start` in a process of its own, and waits until it listens. The end of the test file ends it. */
export function startServerProcess(args: readonly string[], cwd?: string): Promise<RunningProcess> {
  const child = spawn(process.execPath, ['--conditions=source', mainFile, ...args], {
    cwd,
    env: toChildEnvironment(),
  })
  let said = ''
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1)))
  function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    child.kill(signal)
    return ended
  }
  onFileFinished(() => stop('SIGKILL'))
  return new Promise((resolve, reject) => {
    void ended.then((code) => reject(new Error(`It ended with ${code}: ${said}`)))
    const listen = (chunk: Buffer) => {
      said += chunk
      const url = findAddress(said)
      if (!url) return
      resolve({ url, said: () => said, stop })
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
  })
}

function findAddress(text: string): string | undefined {
  return /https?:\/\/(?:[\d.]+|\[[\d:]+\]):\d+/.exec(text)?.[0]
}

/** An empty folder that the end of the test file removes. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skillstead-cli-'))
  onFileFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
