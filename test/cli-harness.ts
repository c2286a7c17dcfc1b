import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { timed } from './phases.ts'

const main = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url))

/** Nobody's folder: whom the person who runs the tests is logged in to is nothing to them. */
const noConfig = join(tmpdir(), `skillstead-config-${process.pid}`)

/** What a finished command left behind. */
export interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a TypeScript file of the project in a process of its own, as its users do. */
export function runFile(
  file: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string>; input?: string } = {},
): Promise<Finished> {
  const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: noConfig, ...options.env } as NodeJS.ProcessEnv
  return timed(
    'process',
    () =>
      new Promise((resolve) => {
        const child = execFile(
          process.execPath,
          ['--conditions=source', file, ...args],
          { cwd: options.cwd, env, maxBuffer: 16 * 1024 * 1024 },
          (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        )
        child.stdin?.end(options.input)
      }),
  )
}

/** Runs a command line. */
export function skillstead(args: readonly string[], options?: Parameters<typeof runFile>[2]): Promise<Finished> {
  return runFile(main, args, options)
}

/** Runs a command line that must succeed, and reads its one line of JSON. */
export async function skillsteadJson<T>(args: readonly string[], options?: Parameters<typeof runFile>[2]): Promise<T> {
  const { code, stdout, stderr } = await skillstead([...args, '--json'], options)
  if (code !== 0) throw new Error(`skillstead ${args.join(' ')} failed: ${stderr}`)
  const lines = stdout.trimEnd().split('\n')
  if (lines.length !== 1) throw new Error(`skillstead ${args.join(' ')} printed ${lines.length} lines.`)
  return JSON.parse(lines[0]!) as T
}

/** A command that goes on until it is told to stop. */
export interface Running {
  readonly url: string
  /** What it said so far. */
  readonly said: () => string
  /** Sends a signal and waits for the end; its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>
}

/** Starts `serve` or `start`, and waits until it listens. */
export function startServer(args: readonly string[], cwd?: string): Promise<Running> {
  const child = spawn(process.execPath, ['--conditions=source', main, ...args], {
    cwd,
    env: { PATH: process.env.PATH },
  })
  let said = ''
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1)))
  function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    child.kill(signal)
    return ended
  }
  return new Promise((resolve, reject) => {
    void ended.then((code) => reject(new Error(`It ended with ${code}: ${said}`)))
    const listen = (chunk: Buffer) => {
      said += chunk
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0]
      if (!url) return
      resolve({ url, said: () => said, stop })
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
  })
}

const folders: string[] = [noConfig]
afterAll(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** An empty folder that goes with the test file. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skillstead-cli-'))
  folders.push(folder)
  return folder
}
