import { mkdir, mkdtemp, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { localApi, systemCaller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { writeBackup } from '@skillstead/maintenance'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, refusalOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry } from '../support/harness.ts'
import { openRegistry } from '../support/open-registry.ts'

describeApi('backups', (open, { dialect }) => {
  let test: TestRegistry
  beforeAll(async () => {
    test = await open()
    await test.admin.api.publishSkill({ skillMd: skillMd('kept') })
  })

  it('can be made and listed only by administrators', async () => {
    const user = await test.makeUser()
    expect(await codeOf(user.api.createBackup())).toBe('forbidden')
    expect(await codeOf(user.api.listBackups())).toBe('forbidden')
    expect(await codeOf(test.api().createBackup())).toBe('unauthorized')
  })

  it.runIf(dialect === 'PostgreSQL')('are refused on PostgreSQL, with the advice to use pg_dump', async () => {
    const { code, message } = await refusalOf(test.admin.api.createBackup())
    expect(code).toBe('not_implemented')
    expect(message).toContain('pg_dump')
    expect(await test.admin.api.listBackups()).toEqual({ backups: [], total: 0, folder: null, schedule: null })
  })

  describe.runIf(dialect === 'SQLite')('of a SQLite file', () => {
    let folder: string
    beforeAll(() => void (folder = join(dirname((test.location as { path: string }).path), 'backups')))

    it('are made next to the file while users write, readable by their user alone, and without half-written data', async () => {
      expect(await test.admin.api.listBackups()).toEqual({ backups: [], total: 0, folder, schedule: null })
      const copying = test.admin.api.createBackup()
      for (let i = 0; i < 20; i++) await test.admin.api.publishSkill({ skillMd: skillMd(`meanwhile-${i}`) })
      const made = await copying
      expect(made).toMatchObject({
        name: '2026-01-02T12-00-00-000Z.db',
        createdAt: '2026-01-02T12:00:00.000Z',
        verified: true,
      })
      const file = join(folder, made.name)
      const { size, mode } = await stat(file)
      expect([size, mode & 0o777]).toEqual([made.bytes, 0o600])
      expect((await stat(folder)).mode & 0o777).toBe(0o700)
      expect(await readdir(folder), 'one file, whole by itself').toEqual([made.name])
      const { entries } = await test.admin.api.listAudit({ action: 'backup.create' })
      expect(entries).toMatchObject([{ actor: 'root', data: { name: made.name, bytes: made.bytes } }])

      const copy = await openRegistry({ path: file, works: false, memorySkillsMax: 0 })
      const names = (await partsOf(copy).database.read.selectFrom('skills').select('name').execute()).map(
        ({ name }) => name,
      )
      const versions = await partsOf(copy).database.read.selectFrom('versions').select('id').execute()
      expect(names).toContain('kept')
      expect(versions, 'nothing is there by half').toHaveLength(names.length)
      expect(await copy.authenticate(test.admin.key)).toMatchObject({ username: 'root' })
      await copy.close()
      await rm(file)
    })

    it('are listed newest first, without other files in the folder', async () => {
      const first = await test.admin.api.createBackup()
      test.clock.advance(1500)
      const second = await test.admin.api.createBackup()
      await writeFile(join(folder, 'notes.txt'), 'mine')
      await mkdir(join(folder, '2020-01-01T00-00-00-000Z.db'))
      const { backups, total } = await test.admin.api.listBackups()
      expect(backups.map(({ name }) => name)).toEqual([second.name, first.name])
      expect(backups[0]).toEqual({
        name: second.name,
        bytes: second.bytes,
        createdAt: '2026-01-02T12:00:01.500Z',
        scheduled: false,
      })
      expect(total).toBe(2)
    })

    it('are made one at a time', async () => {
      test.clock.advance(1000)
      const codes = await Promise.all(
        [1, 2].map(() =>
          test.admin.api.createBackup().then(
            () => 'made',
            ({ code }) => code as string,
          ),
        ),
      )
      expect(codes.toSorted()).toEqual(['conflict', 'made'])
    })

    it('delete old temporary files of a killed process', async () => {
      test.clock.advance(1000)
      const id = '11111111-1111-1111-1111-111111111111'
      const [old, fresh, mine] = [`.${id}.partial`, `.${id}.partial-wal`, 'mine.partial.db'] as const
      for (const name of [old, fresh, mine]) await writeFile(join(folder, name), '')
      for (const name of [old, mine]) await utimes(join(folder, name), 0, 0)
      const future = new Date(test.clock.now() + 1000)
      await utimes(join(folder, fresh), future, future)
      await test.admin.api.createBackup()
      const names = await readdir(folder)
      expect(names).not.toContain(old)
      expect(names).toEqual(expect.arrayContaining([fresh, mine]))
    })
  })
})

describe('writeBackup', () => {
  let folder: string
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'backup-'))))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  const listCopies = async () => (await readdir(folder)).filter((name) => /copy|partial/.test(name))

  it('deletes a damaged copy', async () => {
    const path = join(folder, 'broken.db')
    const registry = await openRegistry({ path, works: false })
    await registry.close()
    const bytes = await readFile(path)
    // The middle of the file has pages of other tables; the first page is unchanged.
    bytes.fill(0xa5, 4096 * 8, 4096 * 12)
    await writeFile(path, bytes)
    await expect(writeBackup(path, join(folder, 'copy.db'))).rejects.toThrow(/is damaged|malformed/)
    expect(await listCopies()).toEqual([])
  })

  it('refuses an existing target file, and a source that is not a database', async () => {
    const path = join(folder, 'text.db')
    await writeFile(path, 'This is no database at all, only a text that is long enough to look at.'.repeat(100))
    await expect(writeBackup(path, path)).rejects.toThrow('A file with this name already exists')
    await expect(writeBackup(path, join(folder, 'copy.db'))).rejects.toThrow('file is not a database')
    expect(await listCopies()).toEqual([])
  })

  it('stops when the registry closes, and leaves no file', async () => {
    const path = join(folder, 'closing.db')
    await (await openRegistry({ path, works: false })).close()
    await expect(writeBackup(path, join(folder, 'copy.db'), AbortSignal.abort())).rejects.toThrow('is closing')
    expect(await listCopies()).toEqual([])
  })

  it('refuses a registry in memory, which has no file', async () => {
    const registry = await openRegistry({ path: ':memory:', works: false })
    expect(await codeOf(localApi(registry, systemCaller).createBackup())).toBe('not_implemented')
    await registry.close()
  })
})
