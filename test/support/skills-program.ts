import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeFolder, type Finished } from './cli-harness.ts'

const program = fileURLToPath(new URL('../node_modules/skills/bin/cli.mjs', import.meta.url))

/** A project and a home folder with one agent, in which a user installs skills with the `skills` program. */
export interface Project {
  /** Runs `skills` with a clean environment and without telemetry. */
  skills(...args: string[]): Promise<Finished>
  /** The paths of all installed files, sorted. */
  installed(): Promise<string[]>
  read(path: string): Promise<string>
  readonly folder: string
}

export async function makeProject(url: string): Promise<Project> {
  const root = await makeFolder()
  const folder = join(root, 'project')
  const home = join(root, 'home')
  await mkdir(folder)
  // Where it finds no agent, `skills update` installs for all that it knows.
  await mkdir(join(home, '.claude'), { recursive: true })
  const env = {
    HOME: home,
    PATH: dirname(process.execPath),
    DISABLE_TELEMETRY: '1',
    NO_COLOR: '1',
    SKILLS_API_URL: url,
  }
  const skillsFolder = join(folder, '.agents', 'skills')
  return {
    folder,
    skills: (...args) =>
      new Promise((resolve) => {
        const child = execFile(process.execPath, [program, ...args], { cwd: folder, env }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout: plain(stdout), stderr: plain(stderr) }),
        )
        child.stdin!.end()
      }),
    async installed() {
      const entries = await readdir(skillsFolder, { recursive: true, withFileTypes: true }).catch(() => [])
      const files = entries.filter((entry) => entry.isFile())
      return files.map((file) => join(file.parentPath, file.name).slice(skillsFolder.length + 1)).toSorted()
    },
    read: (path) => readFile(join(skillsFolder, path), 'utf8'),
  }
}

/** Without what moves a terminal's cursor. */
function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\u001B\[[0-9;?]*[A-Za-z]/g, '')
}
