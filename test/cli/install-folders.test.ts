import { mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toContentDigest } from '@skillstead/client/verify'
import { expect, it, onTestFinished } from 'vitest'
import { openCache } from '../../packages/cli/src/install/cache.ts'
import { toFileSystemError } from '../../packages/cli/src/install/file-system-error.ts'
import { describeEdits, readFolderState } from '../../packages/cli/src/install/folder-state.ts'
import type { Lock, LockedSkill } from '../../packages/cli/src/install/lock.ts'
import { recoverInstalls } from '../../packages/cli/src/install/recover.ts'
import { replaceFolders } from '../../packages/cli/src/install/replace-folders.ts'
import { createStaging, type FolderChange } from '../../packages/cli/src/install/staging.ts'
import { toTargetPath } from '../../packages/cli/src/install/install-place.ts'
import { writeZip } from '@skillstead/skill-format/archives'
import { readTree } from '../support/install-harness.ts'

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

it('an install replaces all folders or none, whichever step fails', async () => {
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

it('a failed install that cannot restore the former content of a folder reports where the content is stored', async () => {
  const root = await makeSkills()
  const skills = join(root, 'skills')
  async function breakStaging() {
    const name = (await readdir(skills)).find((one) => one.startsWith('.'))
    await rm(join(skills, name!, 'new'), { recursive: true })
    await writeFile(join(skills, name!, 'new'), '')
    throw new Error('No room for the lock.')
  }
  await expect(replaceFolders([toChange(root, 'pdf', 'new')], breakStaging)).rejects.toThrow(
    /^No room for the lock\. The former content could not be restored\. It is in \S+\/old\/pdf; move it back\.$/,
  )
  expect(Object.entries(await readTree(root))).toContainEqual([expect.stringMatching(/\/old\/pdf\/SKILL\.md$/), 'old'])
})

it('an install does not overwrite changes made between the check of a folder and its replacement', async () => {
  const root = await makeSkills()
  const seen = toContentDigest(toFiles('old'))
  const changes = [
    { ...toChange(root, 'csv', 'new'), seen },
    { ...toChange(root, 'pdf', 'new'), seen },
    { ...toChange(root, 'fresh', 'new'), seen: null },
  ]
  await writeFile(join(root, 'skills/pdf/SKILL.md'), 'mine')
  const before = await readTree(root)
  await expect(replaceFolders(changes, async () => {})).rejects.toThrow('skills/pdf was changed by another process')
  expect(await readTree(root)).toEqual(before)
  const removal = { ...toChange(root, 'pdf'), seen }
  await expect(replaceFolders([removal], async () => {})).rejects.toThrow('skills/pdf was changed by another process')
  await mkdir(join(root, 'skills/fresh'))
  await expect(replaceFolders([changes[2]!], async () => {})).rejects.toThrow(
    'skills/fresh was changed by another process',
  )
  await rm(join(root, 'skills/fresh'), { recursive: true })
  await replaceFolders([changes[0]!, changes[2]!], async () => {})
  expect(await readTree(root)).toMatchObject({ 'skills/csv/SKILL.md': 'new', 'skills/fresh/SKILL.md': 'new' })
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

const place = (root: string) => ({ isGlobal: false, root, lockFolder: root, env: {} })
const lockOf = (text: string, names: readonly string[]): Lock => ({
  version: 1,
  skills: Object.fromEntries(
    names.map((name) => [
      `alice/${name}`,
      { ...row, digest: toContentDigest(toFiles(text)), targets: [`skills/${name}`] },
    ]),
  ),
})

it('recovery undoes an interrupted command if skills.lock was not yet written, and otherwise completes the command', async () => {
  for (const steps of ['add', 'seal', 'swap'] as const) {
    const root = await makeSkills()
    const before = await readTree(root)
    await leave(root, steps)
    await recoverInstalls(place(root), lockOf('old', ['pdf', 'csv']), ['skills'])
    expect([steps, await readTree(root)]).toEqual([steps, before])
  }
  const root = await makeSkills()
  await leave(root, 'swap')
  const after = lockOf('new', ['pdf', 'fresh'])
  await recoverInstalls(place(root), after, [])
  expect(Object.keys(await readTree(root))).toEqual([
    'skills/fresh/SKILL.md',
    'skills/fresh/a/b.txt',
    'skills/pdf/SKILL.md',
    'skills/pdf/a/b.txt',
  ])
})

it('recovery undoes a killed install in the folders of all known agents, even if skills.lock does not list them', async () => {
  const root = await makeSkills()
  const before = await readTree(root)
  await leave(root, 'swap')
  await mkdir(join(root, '.claude'))
  await rename(join(root, 'skills'), join(root, '.claude/skills'))
  await recoverInstalls(place(root), lockOf('old', ['csv']), [])
  await rename(join(root, '.claude/skills'), join(root, 'skills'))
  expect(await readTree(root)).toEqual(before)
})

it('recovery moves no folders through symbolic links in a staging folder that came with a project', async () => {
  for (const linked of ['new', 'old']) {
    const [root, home] = [await makeSkills(), await makeFolder()]
    await mkdir(join(home, 'csv'))
    await leave(root, 'swap')
    const staging = join(root, 'skills/.skillstead-999999999-0123abcd')
    await rm(join(staging, linked), { recursive: true })
    await symlink(home, join(staging, linked))
    const before = await readTree(join(root, 'skills/pdf'))
    await recoverInstalls(place(root), lockOf('old', ['pdf', 'csv']), [])
    expect([linked, await readdir(home)]).toEqual([linked, ['csv']])
    expect((await readdir(join(root, 'skills'))).includes('csv')).toBe(false)
    expect(await readTree(join(root, 'skills/pdf'))).toEqual(before)
  }
})

it('recovery does not undo later changes by the user, or touch the staging folders of running commands', async () => {
  const root = await makeSkills()
  await leave(root, 'swap')
  await writeFile(join(root, 'skills/pdf/SKILL.md'), 'mine')
  await recoverInstalls(place(root), lockOf('old', ['pdf', 'csv']), [])
  expect(await readTree(root)).toMatchObject({ 'skills/pdf/SKILL.md': 'mine', 'skills/csv/SKILL.md': 'old' })
  const staging = createStaging(join(root, 'skills'))
  await staging.add(toChange(root, 'pdf', 'new'))
  await recoverInstalls(place(root), lockOf('old', ['pdf', 'csv']), [])
  staging.seal()
  staging.swap()
  staging.close()
  expect(await readTree(root)).toMatchObject({ 'skills/pdf/SKILL.md': 'new' })
})

it('recovery follows no symbolic link out of a project', async () => {
  const [root, outside] = [await makeFolder(), await makeFolder()]
  await symlink(outside, join(root, '.agents'))
  await mkdir(join(root, 'real'))
  await symlink('real', join(root, 'linked'))
  expect(() => toTargetPath(place(root), '.agents/skills/pdf')).toThrow('leads out of this project')
  expect(toTargetPath(place(root), 'linked/skills/pdf')).toBe(join(root, 'linked/skills/pdf'))
})

it('an install refuses to replace symbolic links, files and git repositories', async () => {
  const root = await makeSkills()
  await symlink('pdf', join(root, 'skills/link'))
  await writeFile(join(root, 'skills/file'), '')
  await mkdir(join(root, 'skills/csv/.git'))
  await symlink('SKILL.md', join(root, 'skills/pdf/inner'))
  const tell = async (name: string) => describeEdits(await readFolderState(join(root, name), [digest]), digest)
  expect(await tell('skills/link')).toBe('it is a symbolic link')
  expect(await tell('skills/file')).toBe('it is a file')
  expect(await tell('skills/csv')).toBe('it is a git repository')
  expect(await tell('skills/pdf')).toContain('is not a regular file')
  expect(await tell('skills/none')).toBe('it is missing')
  expect(await tell('skills/file/none')).toBe('it is missing')
})

it('the check of a folder ignores files of file managers, unless they belong to the version', async () => {
  const root = await makeSkills()
  const [folder, junk] = [join(root, 'skills/pdf'), { path: '.DS_Store', bytes: Buffer.from('x') }]
  const without = toContentDigest(toFiles('old'))
  const withIt = toContentDigest([...toFiles('old'), junk])
  expect(await readFolderState(folder, [withIt])).toMatchObject({ digest: without })
  await writeFile(join(folder, junk.path), junk.bytes)
  expect(await readFolderState(folder, [without])).toMatchObject({ digest: without })
  expect(await readFolderState(folder, [digest, withIt])).toMatchObject({ digest: withIt })
})

it('the cache of packages returns a stored package, unless its file was altered', async () => {
  const root = await makeFolder()
  const cache = openCache(join(root, 'cache'))
  const one = [{ path: 'SKILL.md', bytes: Buffer.from('# PDF\n') }]
  const [zip, wanted] = [writeZip(one), toContentDigest(one)]
  expect(await cache.find(wanted)).toBeUndefined()
  expect(cache.keep(wanted, zip)).toBeUndefined()
  expect(await cache.find(wanted)).toEqual([{ path: 'SKILL.md', bytes: expect.anything(), executable: false }])
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

it('file system errors are reported in one sentence', () => {
  expect(say('ENOSPC')).toBe(
    '/p/pdf could not be written: the disk is full. Free some space and try again. Nothing was changed.',
  )
  expect(say('EACCES')).toContain('/p/pdf cannot be written: permission denied')
  expect(say('EROFS')).toContain('read-only')
  expect(say('EIO')).toContain('could not be written: x')
  const other = new Error('Something else.')
  expect(toFileSystemError(other)).toBe(other)
})
