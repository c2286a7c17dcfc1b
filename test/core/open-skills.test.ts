import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRegistryError, localApi, openSkills, systemCaller, type Skills, type SkillsOptions } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { writeZip } from '@skillstead/skill-format/archives'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bytesOf, codeOf, skillMd } from '../support/answers.ts'
import { makeFolder } from '../support/cli-harness.ts'
import { openDatabase } from '../support/open-registry.ts'
import { poisonRows, poisonText } from '../support/poison.ts'

const open = async (options: Partial<SkillsOptions> = {}): Promise<Skills> => {
  const skills = await openSkills({ path: ':memory:', profile: 'short', as: 'runtime', ...options })
  onTestFinished(() => skills.close())
  return skills
}

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 13, 10, 26, 10])

/** A folder with the skills `clean-csv`, which has a script and a picture, and `tea`. */
async function makeSkills(): Promise<string> {
  const folder = await makeFolder()
  await mkdir(join(folder, 'data/clean-csv/assets'), { recursive: true })
  await mkdir(join(folder, 'tea'))
  const csv = skillMd('clean-csv', { description: 'Cleans CSV files.' })
  await writeFile(join(folder, 'data/clean-csv/SKILL.md'), csv)
  await writeFile(join(folder, 'data/clean-csv/run.py'), 'print(1)\n')
  await writeFile(join(folder, 'data/clean-csv/assets/logo.png'), png)
  await writeFile(join(folder, 'tea/SKILL.md'), skillMd('tea'))
  return folder
}

describe('openSkills', () => {
  it('imports a folder, finds and loads its skills, and makes tools of them', async () => {
    const skills = await open()
    const progress: unknown[] = []
    const summary = await skills.importFolder(await makeSkills(), { onProgress: (state) => progress.push(state) })
    expect(summary).toMatchObject({ taken: 2, unchanged: 0, refused: 0, versionsCreated: 2 })
    expect(progress.at(-1)).toEqual({ skills: 2, share: 1 })
    const { skills: found, total } = await skills.search('clean csv', { limit: 1 })
    expect([found[0]?.fullName, found.length, total]).toEqual(['runtime/clean-csv', 1, 1])
    const skill = await skills.load('runtime/clean-csv', { level: 'summary', maxTokens: 2000, version: '1.0.0' })
    expect(skill).toMatchObject({ metadata: { fullName: 'runtime/clean-csv', version: '1.0.0' } })
    expect(skills.toTool(skill, 'openai')).toMatchObject({ type: 'function', function: { name: 'clean-csv' } })
    expect(await codeOf(skills.load('runtime/coffee'))).toBe('not_found')
    expect(await codeOf(skills.search('tea', { limit: 0 }))).toBe('invalid_request')
  })

  it('imports binary files unchanged from folders and zips, and does not follow links', async () => {
    const skills = await open()
    const folder = await makeSkills()
    await symlink('/etc/hostname', join(folder, 'tea/host'))
    await skills.importFolder(folder)
    const { files } = await skills.api.getSkill({ name: 'runtime/tea' })
    expect(files.map(({ path }) => path)).toEqual(['SKILL.md'])
    const readLogo = async (name: string) =>
      bytesOf(await skills.api.getFile({ name, version: '1.0.0', path: 'assets/logo.png' }))
    expect(await readLogo('runtime/clean-csv')).toEqual(Buffer.from(png))
    const zip = join(folder, 'skills.zip')
    const zipped = { 'zipped/SKILL.md': Buffer.from(skillMd('zipped')), 'zipped/assets/logo.png': png }
    await writeFile(zip, writeZip(Object.entries(zipped).map(([path, bytes]) => ({ path, bytes }))))
    expect(await skills.importFolder(zip)).toMatchObject({ taken: 1, refused: 0 })
    expect(await readLogo('runtime/zipped')).toEqual(Buffer.from(png))
    expect(await skills.importFolder(folder)).toMatchObject({ taken: 0, unchanged: 2, versionsCreated: 0 })
  })

  it('publishes imported skills only as its user, whichever owner a SKILL.md names', async () => {
    const skills = await open()
    const { createUser } = localApi(skills.registry, systemCaller)
    await createUser({ username: 'anthropic' })
    const folder = await makeFolder()
    const named = '---\nname: anthropic/tea\nowner: anthropic\nauthor: anthropic\ndescription: Tea.\n---\n# Tea\n'
    await writeFile(join(folder, 'SKILL.md'), named)
    expect((await skills.importFolder(folder)).taken).toBe(1)
    const { skills: all } = await localApi(skills.registry).searchSkills({})
    expect(all.map(({ fullName }) => fullName)).toEqual(['runtime/anthropic-tea'])
  })

  it('refuses an import over the storage quota of its user, and an import by a guest', async () => {
    const folder = await makeSkills()
    const path = join(folder, 'skills.db')
    const guest = await open({ path, mode: 'create', as: undefined })
    expect(await codeOf(guest.importFolder(folder))).toBe('unauthorized')
    // The first user has a plan without a quota.
    await localApi(guest.registry, systemCaller).createUser({ username: 'root' })
    const small = await open({ path, storageQuotaBytes: 150 })
    const { taken, refusals } = await small.importFolder(folder)
    expect([taken, refusals.length]).toEqual([1, 1])
    expect(refusals[0]?.reason).toContain('runtime stores')
  })

  it('rejects a path that does not exist or is no archive, and ends an import when its signal aborts', async () => {
    const skills = await open()
    const folder = await makeFolder()
    expect(await codeOf(skills.importFolder(join(folder, 'none')))).toBe('not_found')
    await writeFile(join(folder, 'notes.txt'), 'Notes.')
    expect(await codeOf(skills.importFolder(join(folder, 'notes.txt')))).toBe('invalid_request')
    // A batch ends after 4 MiB, and the next is read meanwhile.
    for (let i = 0; i < 12; i++) {
      await mkdir(join(folder, `s-${i}`))
      await writeFile(join(folder, `s-${i}/SKILL.md`), skillMd(`s-${i}`))
      await writeFile(join(folder, `s-${i}/data.bin`), new Uint8Array(1024 * 1024).fill(i))
    }
    const ending = new AbortController()
    const reason = new Error('Enough.')
    const onProgress = () => ending.abort(reason)
    await expect(skills.importFolder(folder, { onProgress, signal: ending.signal })).rejects.toBe(reason)
    const { total } = await skills.search('')
    expect(total).toBeGreaterThan(0)
    expect(total).toBeLessThan(12)
    expect((await skills.importFolder(folder)).taken).toBe(12 - total)
  })

  it('refuses a version that fails in the database, and ends an import early only if the disk is full', async () => {
    const errors: unknown[] = []
    const path = join(await makeFolder(), 'skills.db')
    const skills = await open({ path, onError: (error) => errors.push(error) })
    const database = await openDatabase({ path })
    onTestFinished(() => database.close())
    const folder = await makeSkills()
    const heal = await poisonRows(database, { table: 'versions', when: 'new.size > 100' })
    const summary = await skills.importFolder(folder)
    expect(summary).toMatchObject({ taken: 1, refused: 1, refusals: [{ id: expect.stringContaining('clean-csv') }] })
    expect(JSON.stringify(summary)).not.toContain(poisonText)
    expect(errors).toMatchObject([{ cause: { message: poisonText } }])
    await heal()
    await poisonRows(database, { table: 'versions', when: 'new.size > 100', as: 'full disk' })
    await expect(skills.importFolder(folder)).rejects.toMatchObject({
      code: 'overloaded',
      message: expect.stringMatching(/^The import ended early: The disk .* is full\. .* Run the import again/),
    })
  })

  it('rejects a call whose signal is aborted, with the reason of the signal', async () => {
    const skills = await open()
    const reason = new Error('Too late.')
    const signal = AbortSignal.abort(reason)
    await expect(skills.search('tea', { signal })).rejects.toBe(reason)
    await expect(skills.load('runtime/tea', { signal })).rejects.toBe(reason)
    await expect(skills.importFolder('.', { signal })).rejects.toBe(reason)
  })

  it('creates its user only once, without administrator rights, and uses the same user when opened again', async () => {
    const path = join(await makeFolder(), 'skills.db')
    const [first, second] = await Promise.all([open({ path, mode: 'create' }), open({ path, mode: 'create' })])
    const users = await localApi(first.registry, systemCaller).listUsers({})
    expect(users.users).toMatchObject([{ username: 'runtime', role: 'user' }])
    expect(await codeOf(first.api.listUsers({}))).toBe('forbidden')
    await second.close()
    const third = await open({ path })
    expect((await third.registry.getCaller('runtime')).userId).toBe((await first.registry.getCaller('runtime')).userId)
    expect(await codeOf(open({ path, as: 'Not A Name' }))).toBe('invalid_request')
  })

  it('creates a missing registry as `openRegistry` does, except in the modes `write` and `read`, and creates no user in the mode `read`', async () => {
    const path = join(await makeFolder(), 'skills.db')
    for (const mode of ['write', 'read'] as const) expect(await codeOf(open({ path, mode }))).toBe('no_registry')
    await (await open({ path, as: 'alice' })).close()
    const before = await readFile(path)
    expect(await codeOf(open({ path, mode: 'read', as: 'bob' }))).toBe('not_found')
    const reading = await open({ path, mode: 'read', as: 'alice' })
    expect((await reading.search('')).total).toBe(0)
    expect(await codeOf(reading.importFolder(await makeSkills()))).toBe('read_only')
    await reading.close()
    expect((await readFile(path)).equals(before)).toBe(true)
  })

  it('searches in memory only with the profile `resident`', async () => {
    for (const profile of ['resident', 'short'] as const) {
      const { search } = partsOf((await open({ profile })).registry)
      await search.warmed
      expect(search.warm).toBe(profile === 'resident')
    }
  })

  it('rejects every call with `closed` after it was closed, also at the end of `await using`', async () => {
    let leaked: Skills
    {
      await using skills = await openSkills({ path: ':memory:', as: 'runtime' })
      leaked = skills
    }
    const calls = [leaked.search('tea'), leaked.load('tea'), leaked.importFolder('.'), leaked.api.listUsers({})]
    for (const call of calls) {
      expect(isRegistryError(await call.catch((error: unknown) => error), 'closed')).toBe(true)
    }
    await leaked.close()
  })
})
