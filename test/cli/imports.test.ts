import { systemCaller } from '@skillstead/core'
import { type ImportedVersion, importVersion, partsOf } from '@skillstead/core/internal'
import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { createStub } from '../support/create-stub.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'

describeDatabases('content from other registries', (open) => {
  let test: TestRegistry
  beforeAll(async () => {
    test = await open()
  })

  const imported = (item: Partial<ImportedVersion> & { name: string }) =>
    importVersion(partsOf(test.registry), { owner: 'author', skillMd: skillMd(item.name), ...item }, systemCaller)
  const authorId = async () =>
    (
      await partsOf(test.registry)
        .database.read.selectFrom('users')
        .select('id')
        .where('username', '=', 'author')
        .executeTakeFirstOrThrow()
    ).id

  describe('an import', () => {
    it('keeps the author, date and name of a skill, and lets no one sign in as the imported author', async () => {
      const publishedAt = Date.UTC(2024, 4, 5)
      const skill = { name: 'kept', displayName: 'Kept!', version: '2.0.0', category: 'C', license: 'MIT', publishedAt }
      expect(await imported(skill)).toMatchObject({ fullName: 'author/kept', version: '2.0.0', created: true })
      expect(await test.api().getSkill({ name: 'kept' })).toMatchObject({
        displayName: 'Kept!',
        category: 'C',
        license: 'MIT',
        publishedAt: '2024-05-05T00:00:00.000Z',
        author: { username: 'author' },
      })
      const { users } = await test.admin.api.listUsers({ q: 'author' })
      expect(users).toMatchObject([{ username: 'author', claimed: false, role: 'user' }])
      const keys = await partsOf(test.registry)
        .database.read.selectFrom('api_keys')
        .where('user_id', '=', await authorId())
        .selectAll()
        .execute()
      expect(keys).toEqual([])
    })

    it('changes nothing if the same skill is imported again', async () => {
      const item = { name: 'again', publishedAt: 1_700_000_000_000 }
      await imported(item)
      const { head } = await test.api().getFeed()
      expect(await imported(item)).toMatchObject({ version: '1.0.0', created: false })
      expect((await test.api().getFeed()).head).toBe(head)
    })

    it('keeps the order of versions, and uses a given version number only if the numbers increase', async () => {
      const versions = ['1.0.0', '3.0.0', '2.0.0', 'not-a-version', undefined]
      const made = []
      for (const [i, version] of versions.entries()) {
        const text = skillMd('history', { body: `Part ${i}.` })
        made.push(
          (
            await imported({
              name: 'history',
              skillMd: text,
              version: version === 'not-a-version' ? undefined : version,
              publishedAt: i,
            })
          ).version,
        )
      }
      expect(made).toEqual(['1.0.0', '3.0.0', '3.0.1', '3.0.2', '3.0.3'])
    })

    it('uses the first paragraph of a SKILL.md as the description, with a warning, if the description is missing', async () => {
      const { warnings } = await imported({
        name: 'silent',
        skillMd: '---\nname: loud\n---\n\n# Title\n\nA paragraph.\n',
      })
      expect(warnings.map(({ code }) => code)).toEqual(
        expect.arrayContaining(['description_from_body', 'field_overridden']),
      )
      expect(await test.api().getSkill({ name: 'silent' })).toMatchObject({
        name: 'silent',
        description: 'A paragraph.',
      })
    })

    it('drops NUL characters from fields, and refuses a document with NUL', async () => {
      await imported({
        name: 'nul',
        changelog: 'a\0b',
        license: 'M\0IT',
        category: 'C\0',
        displayName: 'N\0',
      })
      expect(await test.api().getSkill({ name: 'nul' })).toMatchObject({
        license: 'MIT',
        category: 'C',
        displayName: 'N',
      })
      const refused = await codeOf(imported({ name: 'nul-text', skillMd: '# T\0\n\nPara\0graph.\n' }))
      expect(refused).toBe('invalid_skill')
    })
  })

  it('an administrator can hand over the namespace of an imported author, with all its skills, to a user', async () => {
    await imported({ name: 'inherited' })
    const { key, claimed, username } = await test.admin.api.createUser({ username: 'author' })
    expect({ claimed, username }).toEqual({ claimed: true, username: 'author' })
    const author = test.apiWithKey(key)
    const { skill } = await author.publishSkill({ name: 'inherited', category: 'Mine' })
    expect(skill).toMatchObject({ fullName: 'author/inherited', category: 'Mine' })
    expect(await codeOf(test.admin.api.createUser({ username: 'author' })), 'once').toBe('name_taken')
  })

  it('an imported author is neither the first user nor an administrator', async () => {
    const fresh = await open({ empty: true })
    const item = { owner: 'someone', name: 'first', skillMd: skillMd('first') }
    await importVersion(partsOf(fresh.registry), item, systemCaller)
    const first = await fresh.makeUser('real')
    expect(await first.api.getMe()).toMatchObject({ role: 'admin', plan: 'enterprise' })
    await first.api.updateUser({ username: 'someone', role: 'admin' })
    expect(await codeOf(first.api.updateUser({ username: 'real', role: 'user' }))).toBe('conflict')
  })

  it('an imported skill has the origin `import`, and its unclaimed author is not in the leaderboard', async () => {
    await imported({ owner: 'stranger', name: 'named-import' })
    const { origin } = await test.api().getSkill({ name: 'stranger/named-import' })
    expect(origin).toEqual({ kind: 'import', upstream: null, syncedAt: null })
    expect(await test.api().getUser({ username: 'stranger' })).toMatchObject({ claimed: false })
    const writer = await test.makeUser('writer')
    const { skill } = await writer.api.publishSkill({ skillMd: skillMd('named-local') })
    expect(skill.origin.kind).toBe('local')
    expect(await test.api().getUser({ username: 'writer' })).toMatchObject({ claimed: true })
    await writer.api.starSkill({ name: 'stranger/named-import' })
    const { entries, total } = await test.api().getLeaderboard({ limit: 100 })
    expect(entries.map(({ username }) => username)).not.toContain('stranger')
    expect(total).toBe(entries.length)
  })

  it('a stub of a skill without content has only a full name, and becomes a skill when its owner publishes a version', async () => {
    await imported({ name: 'seed' })
    const owner = { id: await authorId(), username: 'author' }
    const stub = { owner, name: 'stubbed', description: 'Known.', repository: 'https://example.com/s' }
    const { head } = await test.api().getFeed()
    const { id } = await createStub(test.registry, stub)
    expect((await createStub(test.registry, stub)).id, 'once').toBe(id)
    expect((await test.api().getFeed()).head, 'no publication').toBe(head)
    expect(await test.api().getSkill({ name: 'author/stubbed' })).toMatchObject({
      stub: true,
      latestVersion: '0.0.0',
      description: 'Known.',
    })
    expect(await codeOf(test.api().getSkill({ name: 'stubbed' }))).toBe('not_found')
    expect(await codeOf(test.api().getSkillMd({ name: 'author/stubbed' }))).toBe('not_found')
    await imported({ name: 'stubbed' })
    const skill = await test.api().getSkill({ name: 'stubbed' })
    expect(skill).toMatchObject({ id, stub: false, latestVersion: '1.0.0', origin: { kind: 'import' } })
    const { entries } = await test.api().getFeed({ since: head })
    expect(entries.map(({ type }) => type)).toEqual(['version'])
  })
})
