import { execFile, execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { localApi, openRegistry, systemCaller, type Registry } from '@skillstead/core'
import { exportRegistry, writeBackup } from '@skillstead/maintenance'
import { beforeAll, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { toChildEnvironment } from '../support/child-environment.ts'
import { makeFolder } from '../support/cli-harness.ts'

/** The user `unprivileged` reads: root could write, whatever the permissions are. */
const unprivileged = 65_534
const isRoot = process.getuid?.() === 0
const isWindows = process.platform === 'win32'
const program = fileURLToPath(new URL('../support/read-only-program.ts', import.meta.url))
/** The size up to which a file is read into memory. */
const memoryBytesMax = 1024 ** 3
const tea = ['alice/tea']
const teas = ['alice/tea', 'alice/tea-late']
const code = (name: string, words: string) => ({ code: name, message: expect.stringContaining(words) as string })

interface Case {
  /** Permissions; default: everything may be written. */
  readonly file?: number
  readonly folder?: number
  /** Creates the files in the folder. Default: a registry that was closed. */
  readonly fill?: (path: string) => Promise<void> | void
  readonly expected: unknown
}

/** Whether another user cannot start programs of this clone, as in a folder of `mktemp -d`. */
const isClosed = isRoot && listFolders(program).some((folder) => (statSync(folder).mode & 0o001) === 0)
const reason = isWindows
  ? ': SKIPPED, for Windows has other permissions'
  : isClosed
    ? ': SKIPPED, for other users cannot enter the folder of this clone'
    : ''

describe.skipIf(reason !== '')(`a registry opened for reading by a user with few permissions${reason}`, () => {
  const cases: Record<string, Case> = {
    'is read if its folder cannot be written': { folder: 0o555, expected: tea },
    'is read if its file cannot be written': { file: 0o444, expected: tea },
    'is read if neither its file nor its folder can be written': { file: 0o444, folder: 0o555, expected: tea },
    'is read if everything can be written, and leaves no files of SQLite': { expected: tea },
    'is read from a backup of any size': {
      file: 0o444,
      folder: 0o555,
      async fill(path) {
        await writeBackup(template, path)
        truncateSync(path, memoryBytesMax + 4096)
      },
      expected: tea,
    },
    'is read through a symbolic link': { folder: 0o555, fill: link, expected: tea },
    'is read with the changes of a process that was killed': { fill: copyKilled, expected: teas },
    'is read with those changes also if its folder cannot be written': {
      folder: 0o555,
      fill: copyKilled,
      expected: teas,
    },
    'is read while another process writes': {
      folder: 0o555,
      async fill(path) {
        copyFileSync(template, path)
        writing = await openRegistry({ path, works: false })
        await publish(writing, 'tea-late')
      },
      expected: teas,
    },
    'is rejected if those changes cannot be read': {
      folder: 0o555,
      fill(path) {
        copyKilled(path)
        rmSync(`${path}-shm`)
      },
      expected: code('needs_write', '-wal that cannot be read, because its folder cannot be written'),
    },
    'is read if the file of changes is empty': {
      folder: 0o555,
      fill(path) {
        copyFileSync(template, path)
        writeFileSync(`${path}-wal`, '')
      },
      expected: tea,
    },
    'is rejected if it is too large for the memory': {
      folder: 0o555,
      fill(path) {
        copyFileSync(template, path)
        truncateSync(path, memoryBytesMax + 4096)
      },
      expected: code('needs_write', 'has more than 1073741824 bytes'),
    },
    'is rejected if it is damaged': {
      folder: 0o555,
      fill: (path) => writeFileSync(path, readFileSync(template).fill(7, 100, 4096)),
      expected: code('damaged', 'is damaged'),
    },
    'is rejected if it is a text': {
      folder: 0o555,
      fill: (path) => writeFileSync(path, 'These are notes. '.repeat(100)),
      expected: code('not_a_registry', 'is not a registry'),
    },
    'is rejected if it is missing': { folder: 0o555, fill() {}, expected: code('no_registry', 'Check the path') },
  }
  const titles = Object.keys(cases)
  let writing: Registry
  let template: string
  let killed: string
  let root: string
  let results: Record<string, unknown>
  let before: unknown[]
  let after: unknown[]
  const toPath = (title: string) => join(root, `case-${titles.indexOf(title)}`, 'skills.db')

  beforeAll(async () => {
    root = await makeFolder()
    chmodSync(root, 0o755)
    template = join(root, 'template.db')
    killed = join(root, 'killed.db')
    await makeRegistries()
    for (const title of titles) await prepare(toPath(title), cases[title]!)
    before = titles.map((title) => readFiles(toPath(title)))
    const user = isRoot ? { uid: unprivileged, gid: unprivileged } : {}
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=source', program, ...titles.map(toPath)],
      { env: toChildEnvironment(), ...user },
    )
    results = JSON.parse(stdout) as Record<string, unknown>
    after = titles.map((title) => readFiles(toPath(title)))
    // Otherwise only root could remove the folders.
    for (const title of titles) chmodSync(dirname(toPath(title)), 0o755)
    await writing.close()
  })

  it.each(titles)('%s', (title) => {
    expect(results[toPath(title)]).toEqual(cases[title]!.expected)
    expect(after[titles.indexOf(title)]).toEqual(before[titles.indexOf(title)])
  })

  /** A registry that was closed, and the files of one that was not. */
  async function makeRegistries(): Promise<void> {
    const registry = await openRegistry({ path: template, works: false })
    await localApi(registry, systemCaller).createUser({ username: 'alice' })
    await publish(registry, 'tea')
    await registry.close()
    copyFileSync(template, killed)
    const other = await openRegistry({ path: killed, works: false })
    await publish(other, 'tea-late')
    for (const end of ['', '-wal', '-shm']) copyFileSync(killed + end, `${killed}.copy${end}`)
    await other.close()
  }

  async function prepare(path: string, { file = 0o644, folder = 0o755, fill = copyTemplate }: Case): Promise<void> {
    const place = dirname(path)
    mkdirSync(place)
    await fill(path)
    const names = readdirSync(place)
    for (const name of names) chmodSync(join(place, name), file)
    if (isRoot) for (const name of ['.', ...names]) chownSync(join(place, name), unprivileged, unprivileged)
    chmodSync(place, folder)
  }

  function copyTemplate(path: string): void {
    copyFileSync(template, path)
  }

  function copyKilled(path: string): void {
    for (const end of ['', '-wal', '-shm']) copyFileSync(`${killed}.copy${end}`, path + end)
  }

  function link(path: string): void {
    const target = join(dirname(path), 'target.db')
    copyFileSync(template, target)
    symlinkSync('target.db', path)
  }
})

const canMount = await tryMount()

describe.skipIf(!canMount)(
  `a registry on a read-only disk${canMount ? '' : ': SKIPPED, for only root may mount one'}`,
  () => {
    it('is read and exported, and its folder stays as it was', async () => {
      const folder = await makeFolder()
      const path = join(folder, 'skills.db')
      await (await openRegistry({ path, works: false })).close()
      const names = readdirSync(folder)
      execFileSync('mount', ['--bind', folder, folder])
      try {
        execFileSync('mount', ['-o', 'remount,ro,bind', folder])
        const registry = await openRegistry({ path, mode: 'read' })
        expect((await localApi(registry).searchSkills({})).total).toBe(0)
        expect(await registry.readiness()).toMatchObject({ database: true, disk: true })
        await registry.close()
        expect(await exportRegistry({ path }, join(await makeFolder(), 'export.ndjson'))).toMatchObject({ epoch: 1 })
        expect(readdirSync(folder)).toEqual(names)
      } finally {
        execFileSync('umount', [folder])
      }
    })
  },
)

/** Whether this process may mount a folder. */
async function tryMount(): Promise<boolean> {
  if (!isRoot || process.platform !== 'linux') return false
  const folder = await makeFolder()
  try {
    execFileSync('mount', ['--bind', folder, folder], { stdio: 'ignore' })
    execFileSync('umount', [folder])
    return true
  } catch {
    return false
  }
}

async function publish(registry: Registry, name: string): Promise<void> {
  await localApi(registry, await registry.getCaller('alice')).publishSkill({ skillMd: skillMd(name) })
}

/** The names of all files with digests, except those of the write-ahead log's index and of large files. */
function readFiles(path: string): [name: string, digest: string][] {
  const place = dirname(path)
  return readdirSync(place).map((name) => {
    const file = join(place, name)
    const isCompared = !name.endsWith('-shm') && statSync(file).size < memoryBytesMax
    return [name, isCompared ? hash('sha256', readFileSync(file)) : '']
  })
}

/** The folders above a file, nearest first. */
function listFolders(file: string): string[] {
  const folder = dirname(file)
  return folder === file ? [] : [folder, ...listFolders(folder)]
}
