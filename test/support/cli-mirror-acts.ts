import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { toChildEnvironment } from './child-environment.ts'
import { makeFolder, skillstead, skillsteadJson, type runFile } from './cli-harness.ts'

/** How an upstream stands, as the commands tell programs. */
export interface Status {
  name: string
  kind: string
  location: string
  state: string
  keys: string[]
  skills: number
  settings: Record<string, unknown>
  alarm: { code: string; message: string; at: string } | null
  problem: string | null
}

export const waiting = { timeout: 60_000 }

/** A folder for a registry that follows others. */
export async function makeMirror() {
  const data = join(await makeFolder(), 'data')
  return {
    data,
    run: (...args: string[]) => skillstead(['mirror', ...args, '--data', data]),
    json: <T>(...args: string[]) => skillsteadJson<T>(['mirror', ...args, '--data', data]),
    /** With something at standard input, or in the environment. */
    runWith: (options: Parameters<typeof runFile>[2], ...args: string[]) =>
      skillstead(['mirror', ...args, '--data', data], options),
  }
}

/** A command that goes on until it is told to stop, and what it printed. */
export function startCommand(args: readonly string[]) {
  const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=source', main, ...args], { env: toChildEnvironment() })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk))
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk))
  const ended = once(child, 'exit').then(([code]) => code as number)
  function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    child.kill(signal)
    return ended
  }
  onTestFinished(() => void child.kill('SIGKILL'))
  return { said, stop, ended }
}
