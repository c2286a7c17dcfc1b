import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildBinary } from '../../packages/cli/packing/binary/build-binary.ts'
import type { Finished } from './cli-harness.ts'

/** The one file in a folder of its own, on a machine where nothing else is found. */
export interface Machine {
  readonly file: string
  /** Empty, and where commands run. */
  readonly folder: string
  /** What temporary files go into. */
  readonly temporary: string
  readonly env: NodeJS.ProcessEnv
  run(...args: string[]): Promise<Finished>
  /** As `run`, with other variables. */
  runWith(variables: Record<string, string>, ...args: string[]): Promise<Finished>
  /** Runs a command that must succeed, and reads its one line of JSON. */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>
  serve(...args: string[]): Promise<Serving>
  remove(): Promise<void>
}

/** A node of the one file. */
export interface Serving {
  readonly url: string
  readonly pid: number
  /** Stops it in order; what it wrote to its error output, and its exit code. */
  stop(): Promise<{ code: number; said: string }>
}

/** Builds the file. The environment has neither a PATH nor anything of the user who runs the tests. */
export async function makeMachine(): Promise<Machine> {
  const root = await mkdtemp(join(tmpdir(), 'skillstead-one-file-'))
  const [folder, home, temporary] = ['work', 'home', 'tmp'].map((name) => join(root, name)) as [string, string, string]
  await Promise.all([folder, home, temporary].map((path) => mkdir(path)))
  const file = await buildBinary(join(root, 'bin/skillstead'))
  const env = { PATH: '', HOME: home, TMPDIR: temporary } as unknown as NodeJS.ProcessEnv
  const options = { cwd: folder, env, maxBuffer: 16 * 1024 * 1024 }

  const run = (...args: string[]) => runWith({}, ...args)

  function runWith(variables: Record<string, string>, ...args: string[]): Promise<Finished> {
    return new Promise((resolve) => {
      execFile(file, args, { ...options, env: { ...env, ...variables } }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      )
    })
  }

  async function json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await run(...args, '--json')
    if (code !== 0) throw new Error(`skillstead ${args.join(' ')} failed: ${stderr}`)
    return JSON.parse(stdout) as T
  }

  function serve(...args: string[]): Promise<Serving> {
    const child = spawn(file, ['serve', '--port', '0', '--json', ...args], options)
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk))
    const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1)))
    async function stop() {
      child.kill('SIGTERM')
      return { code: await ended, said }
    }
    return new Promise((resolve, reject) => {
      void ended.then((code) => reject(new Error(`It ended with ${code}: ${said}`)))
      child.stdout.once('data', (line: Buffer) => {
        const { url } = JSON.parse(String(line)) as { url: string }
        resolve({ url, pid: child.pid!, stop })
      })
    })
  }

  const remove = () => rm(root, { recursive: true, force: true })
  return { file, folder, temporary, env, run, runWith, json, serve, remove }
}
