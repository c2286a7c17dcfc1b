import { mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { changeLock, readLock, type Lock, type LockedSkill } from '../../packages/cli/src/install/lock.ts'

const digest = `sha256:${'0'.repeat(64)}`
const row: LockedSkill = { version: '1.0.0', digest, source: 'https://skills.test', targets: ['.agents/skills/pdf'] }

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skillstead-lock-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

it('skills.lock is the same for any order of installs', async () => {
  const name = fc.stringMatching(/^[a-z0-9]{1,8}(?:-[a-z0-9]{1,4})?$/)
  const skills = fc.uniqueArray(fc.tuple(name, name, fc.nat(99)), {
    selector: ([, short]) => short,
    minLength: 1,
    maxLength: 8,
  })
  const folder = await makeFolder()
  await fc.assert(
    fc.asyncProperty(skills, async (list) => {
      const rows = list.map(([owner, short, patch]) => [
        `${owner}/${short}`,
        { ...row, version: `1.0.${patch}`, targets: [`b/${short}`, `a/${short}`] },
      ])
      await changeLock(folder, {}, () => Object.fromEntries(rows) as Lock['skills'])
      const text = await readFile(join(folder, 'skills.lock'), 'utf8')
      await changeLock(folder, {}, () => ({}))
      await changeLock(folder, {}, () => Object.fromEntries(rows.toReversed()) as Lock['skills'])
      expect(await readFile(join(folder, 'skills.lock'), 'utf8')).toBe(text)
    }),
    { numRuns: 50 },
  )
  expect((await readdir(folder)).length).toBe(1)
})

it('concurrent commands lose no entry of skills.lock, and a killed command does not block later commands', async () => {
  const folder = await makeFolder()
  const [lock, half] = [join(folder, 'skills.lock'), join(folder, 'skills.lock.tmp')]
  await writeFile(half, '{"version":')
  await utimes(half, 0, 0)
  const names = Array.from({ length: 12 }, (_, i) => `skill-${i}`)
  const addRow = (name: string) =>
    changeLock(folder, {}, (skills) => ({ ...skills, [`alice/${name}`]: { ...row, targets: [`a/${name}`] } }))
  await Promise.all(names.map(addRow))
  expect(Object.keys((await readLock(folder)).skills)).toHaveLength(names.length)
  expect(await readdir(folder)).toEqual(['skills.lock'])
  // What no command could read again is not written.
  const before = await readFile(lock, 'utf8')
  const elsewhere = changeLock(folder, {}, () => ({ 'alice/pdf': { ...row, targets: ['../pdf'] } }))
  await expect(elsewhere).rejects.toThrow('cannot be used')
  expect(await readFile(lock, 'utf8')).toBe(before)
  expect(await readdir(folder)).toEqual(['skills.lock'])
  await rm(lock)
  await mkdir(lock)
  await expect(readLock(folder)).rejects.toThrow('it is not a file')
})

const withRow = (change: object, name = 'alice/pdf') => ({ version: 1, skills: { [name]: { ...row, ...change } } })

it('a skills.lock is refused if it has invalid entries, or target folders outside the project', async () => {
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
    '.GIT/hooks/pdf',
    '.g\u200Cit/pdf',
    'GIT~1/pdf',
    'con/pdf',
    'a./pdf',
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
    { version: 1, skills: { 'alice/pdf': row, 'bob/pdf': { ...row, targets: ['.Agents/skills/pdf'] } } },
    { version: 1, skills: { 'alice/pdf': { ...row, targets: ['x/pdf'] }, 'bob/a': { ...row, targets: ['x/pdf/a'] } } },
  ]) {
    await expect(read(lock), JSON.stringify(lock).slice(0, 200)).rejects.toThrow(
      /cannot be used: .*Nothing was changed/,
    )
  }
  await expect(read({ version: 2, skills: {} })).rejects.toThrow('unsupported version')
  expect(await read(withRow({ source: 'local' }))).toEqual(withRow({ source: 'local' }))
  expect((await read({ version: 1, skills: {} })).skills).toEqual({})
})
