import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { rm } from 'node:fs/promises'

/** The result of a command of git; `code` is 0 after a success. */
interface GitResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The real git in a folder of its own, without the machine's configuration. */
export interface GitProgram {
  readonly folder: string
  /** Runs git in the folder. Does not throw if git fails. */
  try(...args: string[]): Promise<GitResult>
  /** Runs git in the folder and returns what it printed. Throws if git fails. */
  run(...args: string[]): Promise<string>
}

export async function openGit(): Promise<GitProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'git-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'true',
    LC_ALL: 'C',
  }
  const attempt = (...args: string[]) =>
    new Promise<GitResult>((resolve) => {
      const options = { cwd: folder, env, timeout: 60_000, maxBuffer: 16 * 1024 * 1024 }
      execFile('git', args, options, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr })
      })
    })
  return {
    folder,
    try: attempt,
    async run(...args) {
      const { code, stdout, stderr } = await attempt(...args)
      if (code !== 0) throw new Error(`git ${args.join(' ')} failed with ${code}: ${stderr}`)
      return stdout.trim()
    },
  }
}
