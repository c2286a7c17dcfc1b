import { chmod, mkdir, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { vi } from 'vitest'
import { makeFolder, skillstead, skillsteadJson, type Finished } from './cli-harness.ts'

// A test runs several commands, each in a process of its own, and machines may be busy.
vi.setConfig({ testTimeout: 120_000 })

/** A person with a home folder and a project, who runs commands in it. */
export interface Project {
  readonly folder: string
  readonly home: string
  readonly env: Record<string, string>
  run(...args: string[]): Promise<Finished>
  json<T>(...args: string[]): Promise<T>
  /** Every file of the project by its path, in order. */
  files(): Promise<Record<string, string>>
}

/** What `install` and `update` answer, as far as tests look at it. */
export interface InstalledAnswer {
  skills: { fullName: string; version: string; change: string; from: string | null; targets: string[] }[]
  skipped: { target: string; reason: string }[]
  warnings: string[]
}

export async function makeProject(home?: string): Promise<Project> {
  const top = await makeFolder()
  // Some tests run commands as a user who owns nothing.
  await chmod(top, 0o755)
  const folder = join(top, 'project')
  const at = home ?? join(top, 'home')
  for (const one of [folder, at]) await mkdir(one, { recursive: true })
  const options = { cwd: folder, env: { HOME: at } }
  return {
    folder,
    home: at,
    env: options.env,
    run: (...args) => skillstead(args, options),
    json: (...args) => skillsteadJson(args, options),
    files: () => readTree(folder),
  }
}

/** Every file below a folder by its path. */
export async function readTree(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  const files = paths.toSorted().map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'latin1')])
  return Object.fromEntries(await Promise.all(files)) as Record<string, string>
}
