import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toContentDigest } from '@skillstead/client/verify'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { openCache } from '../packages/cli/src/install/cache.ts'
import { toFileSystemError } from '../packages/cli/src/install/file-system-error.ts'
import { describeEdits, readFolderState } from '../packages/cli/src/install/folder-state.ts'
import { readLock, writeLock, type Lock, type LockedSkill } from '../packages/cli/src/install/lock.ts'
import { recover } from '../packages/cli/src/install/recover.ts'
import { replaceFolders } from '../packages/cli/src/install/replace-folders.ts'
import { createStaging, type FolderChange } from '../packages/cli/src/install/staging.ts'
import { toTargetPath } from '../packages/cli/src/install/place.ts'
import { writeZip } from '../packages/core/src/archives/write-archive.ts'
import { readTree } from './install-harness.ts'

const digest = `sha256:${'0'.repeat(64)}`
const row: LockedSkill = { version: '1.0.0', digest, source: 'https://skills.test', targets: ['.agents/skills/pdf'] }

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skillstead-install-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

function toFiles(text: string) {
  return [
    { path: 'SKILL.md', bytes: Buffer.from(text) },
    { path: 'a/b.txt', bytes: Buffer.from(text) },
  ]
}

function toChange(root: string, name: string, text?: string): FolderChange {
  const target = `skills/${name}`
  const change = { path: join(root, target), target, fullName: `alice/${name}` }
  if (text === undefined) return change
  return { ...change, digest: toContentDigest(toFiles(text)), readFiles: async () => toFiles(text) }
}

/** Folders of skills as two commands before left them. */
async function makeSkills(): Promise<string> {
  const root = await makeFolder()
  await replaceFolders([toChange(root, 'pdf', 'old'), toChange(root, 'csv', 'old')], async () => {})
  return root
}

const refuse = () => Promise.reject(new Error('No room for the lock.'))

it('replaces all folders or none, whatever goes wrong on the way', async () => {
  const root = await makeSkills()
  const before = await readTree(root)
  const changes = [toChange(root, 'pdf', 'new'), toChange(root, 'csv'), toChange(root, 'fresh', 'new')]
  const failing = { ...toChange(root, 'zip', 'new'), readFiles: () => Promise.reject(new Error('It is lost.')) }
  await expect(replaceFolders([...changes, failing], async () => {})).rejects.toThrow('It is lost.')
  expect(await readTree(root)).toEqual(before)
  await expect(replaceFolders(changes, refuse)).rejects.toThrow('No room for the lock.')
  expect(await readTree(root)).toEqual(before)
  const elsewhere = { ...toChange(root, 'pdf', 'new'), path: join(root, 'deep/er/pdf'), target: 'deep/er/pdf' }
  await expect(replaceFolders([elsewhere], refuse)).rejects.toThrow('No room for the lock.')
  expect((await readdir(root)).toSorted()).toEqual(['skills'])

  await replaceFolders(changes, async () => {})
  expect(await readTree(root)).toEqual({
    'skills/fresh/SKILL.md': 'new',
    'skills/fresh/a/b.txt': 'new',
    'skills/pdf/SKILL.md': 'new',
    'skills/pdf/a/b.txt': 'new',
  })
  expect((await readdir(join(root, 'skills'))).toSorted()).toEqual(['fresh', 'pdf'])
})

/** What a command leaves that was killed after `steps`: its folder bears the number of a process that is no more. */
async function leave(root: string, steps: 'add' | 'seal' | 'swap'): Promise<void> {
  const staging = createStaging(join(root, 'skills'))
  for (const change of [toChange(root, 'pdf', 'new'), toChange(root, 'csv'), toChange(root, 'fresh', 'new')])
    await staging.add(change)
  if (steps !== 'add') staging.seal()
  if (steps === 'swap') staging.swap()
  const name = (await readdir(join(root, 'skills'))).find((one) => one.startsWith('.'))
  await rename(join(root, 'skills', name!), join(root, 'skills', '.skillstead-999999999-0123abcd'))
}

const place = (root: string) => ({ isGlobal: false, root, lockFolder: root })
const lockOf = (text: string, names: readonly string[]): Lock => ({
  version: 1,
  skills: Object.fromEntries(
    names.map((name) => [
      `alice/${name}`,
      { ...row, digest: toContentDigest(toFiles(text)), targets: [`skills/${name}`] },
    ]),
  ),
})

it('takes back what an interrupted command did where the lock was not written, and keeps it where it was', async () => {
  for (const steps of ['add', 'seal', 'swap'] as const) {
    const root = await makeSkills()
    const before = await readTree(root)
    await leave(root, steps)
    await recover(place(root), lockOf('old', ['pdf', 'csv']), ['skills'])
    expect([steps, await readTree(root)]).toEqual([steps, before])
  }
  const root = await makeSkills()
  await leave(root, 'swap')
  const after = lockOf('new', ['pdf', 'fresh'])
  await recover(place(root), after, [])
  expect(Object.keys(await readTree(root))).toEqual([
    'skills/fresh/SKILL.md',
    'skills/fresh/a/b.txt',
    'skills/pdf/SKILL.md',
    'skills/pdf/a/b.txt',
  ])
})

it('leaves alone what somebody wrote since, and what a command at work is about to write', async () => {
  const root = await makeSkills()
  await leave(root, 'swap')
  await writeFile(join(root, 'skills/pdf/SKILL.md'), 'mine')
  await recover(place(root), lockOf('old', ['pdf', 'csv']), [])
  expect(await readTree(root)).toMatchObject({ 'skills/pdf/SKILL.md': 'mine', 'skills/csv/SKILL.md': 'old' })
  const staging = createStaging(join(root, 'skills'))
  await staging.add(toChange(root, 'pdf', 'new'))
  await recover(place(root), lockOf('old', ['pdf', 'csv']), [])
  staging.seal()
  staging.swap()
  staging.close()
  expect(await readTree(root)).toMatchObject({ 'skills/pdf/SKILL.md': 'new' })
})

it('writes one lock for what is installed, in whatever order it came', async () => {
  const name = fc.stringMatching(/^[a-z0-9]{1,8}(?:-[a-z0-9]{1,4})?$/)
  const skills = fc.uniqueArray(fc.tuple(name, name, fc.nat(99)), { selector: ([, short]) => short, maxLength: 8 })
  const folder = await makeFolder()
  await fc.assert(
    fc.asyncProperty(skills, async (list) => {
      const rows = list.map(([owner, short, patch]) => [
        `${owner}/${short}`,
        { ...row, version: `1.0.${patch}`, targets: [`b/${short}`, `a/${short}`] },
      ])
      await writeLock(folder, { version: 1, skills: Object.fromEntries(rows) as Lock['skills'] })
      const text = await readFile(join(folder, 'skills.lock'), 'utf8')
      await writeLock(folder, { version: 1, skills: Object.fromEntries(rows.toReversed()) as Lock['skills'] })
      expect(await readFile(join(folder, 'skills.lock'), 'utf8')).toBe(text)
      await writeLock(folder, await readLock(folder))
      expect(await readFile(join(folder, 'skills.lock'), 'utf8')).toBe(text)
    }),
    { numRuns: 50 },
  )
  expect((await readdir(folder)).length).toBe(1)
})

const withRow = (change: object, name = 'alice/pdf') => ({ version: 1, skills: { [name]: { ...row, ...change } } })

it('refuses locks that lead elsewhere, or say nothing that can be installed', async () => {
  const folder = await makeFolder()
  const read = async (lock: unknown) => {
    await writeFile(join(folder, 'skills.lock'), typeof lock === 'string' ? lock : JSON.stringify(lock))
    return readLock(folder)
  }
  for (const target of [
    '../pdf',
    '/etc/pdf',
    'a/../../pdf',
    'a//pdf',
    './pdf',
    'a\\pdf',
    'C:/pdf',
    '.git/pdf',
    'a/\u0000/pdf',
    'src',
    '',
    7,
  ]) {
    await expect(read(withRow({ targets: [target] })), String(target)).rejects.toThrow('cannot be used')
  }
  for (const lock of [
    '',
    '{"version":1',
    '[]',
    '<<<<<<< HEAD\n{}',
    '['.repeat(100_000),
    { version: 1 },
    withRow({}, 'pdf'),
    withRow({}, '../pdf'),
    withRow({}, 'alice/__proto__'),
    withRow({ version: '1.0' }),
    withRow({ digest: 'sha256:00' }),
    withRow({ source: 'file:///etc/passwd' }),
    withRow({ source: 'javascript:1' }),
    withRow({ targets: 'pdf' }),
    { version: 1, skills: { 'alice/pdf': row, 'bob/pdf': row } },
    { version: 1, skills: { 'alice/pdf': { ...row, targets: ['x/pdf'] }, 'bob/a': { ...row, targets: ['x/pdf/a'] } } },
  ]) {
    await expect(read(lock), JSON.stringify(lock).slice(0, 200)).rejects.toThrow(
      /cannot be used: .*nothing was changed/,
    )
  }
  await expect(read({ version: 2, skills: {} })).rejects.toThrow('another form')
  expect(await read(withRow({ source: 'local' }))).toEqual(withRow({ source: 'local' }))
  expect((await read({ version: 1, skills: {} })).skills).toEqual({})
})

it('follows no link out of a project', async () => {
  const [root, outside] = [await makeFolder(), await makeFolder()]
  await symlink(outside, join(root, '.agents'))
  await mkdir(join(root, 'real'))
  await symlink('real', join(root, 'linked'))
  expect(() => toTargetPath(place(root), '.agents/skills/pdf')).toThrow('leads out of this project')
  expect(toTargetPath(place(root), 'linked/skills/pdf')).toBe(join(root, 'linked/skills/pdf'))
})

it('takes links, files and git repositories for the work of others', async () => {
  const root = await makeSkills()
  await symlink('pdf', join(root, 'skills/link'))
  await writeFile(join(root, 'skills/file'), '')
  await mkdir(join(root, 'skills/csv/.git'))
  await symlink('SKILL.md', join(root, 'skills/pdf/inner'))
  const tell = async (name: string) => describeEdits(await readFolderState(join(root, name)), digest)
  expect(await tell('skills/link')).toBe('it is a link, which somebody else made')
  expect(await tell('skills/file')).toBe('it is a file')
  expect(await tell('skills/csv')).toBe('it is a git repository')
  expect(await tell('skills/pdf')).toContain('is no plain file')
  expect(await tell('skills/none')).toBe('it is missing')
  expect(await tell('skills/file/none')).toBe('it is missing')
})

it('gives from the cache what it was given, and nothing that was altered since', async () => {
  const root = await makeFolder()
  const cache = openCache(join(root, 'cache'))
  const one = [{ path: 'SKILL.md', bytes: Buffer.from('# PDF\n') }]
  const [zip, wanted] = [writeZip(one), toContentDigest(one)]
  expect(await cache.find(wanted)).toBeUndefined()
  expect(cache.keep(wanted, zip)).toBeUndefined()
  expect(await cache.find(wanted)).toEqual([{ path: 'SKILL.md', bytes: expect.anything() }])
  const file = join(root, 'cache/sha256', `${wanted.slice(7)}.zip`)
  expect((await stat(file)).mode & 0o077).toBe(0)
  expect((await stat(join(root, 'cache'))).mode & 0o077).toBe(0)
  // The same package under another digest, and one that was written over.
  await writeFile(file.replace(wanted.slice(7), digest.slice(7)), zip)
  expect(await cache.find(digest)).toBeUndefined()
  await writeFile(file, 'something else')
  expect(await cache.find(wanted)).toBeUndefined()
  await expect(stat(file)).rejects.toThrow('ENOENT')
  // Where nothing can be kept, it is still given to the process that brought it.
  await writeFile(join(root, 'taken'), '')
  const full = openCache(join(root, 'taken'))
  expect(full.keep(wanted, zip)).toContain('EEXIST')
  expect(await full.find(wanted)).toHaveLength(1)
})

function say(code: string): string {
  const error = Object.assign(new Error('x'), { code, path: '/p/pdf' })
  return (toFileSystemError(error) as Error).message
}

it('says what a file system refused in a sentence', () => {
  expect(say('ENOSPC')).toBe(
    '/p/pdf could not be written: there is no room left on that disk. Make room, and try again. Nothing was changed.',
  )
  expect(say('EACCES')).toContain('/p/pdf may not be written by you')
  expect(say('EROFS')).toContain('read only')
  expect(say('EIO')).toContain('could not be written: x')
  const other = new Error('Something else.')
  expect(toFileSystemError(other)).toBe(other)
})
