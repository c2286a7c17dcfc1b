import { beforeAll, describe, expect, it } from 'vitest'
import { readArchive } from '@skillstead/skill-format/archives'
import { bytesOf, codeOf, skillMd, textOf } from '../support/answers.ts'
import { describeMatrix, type TestRegistry, type TestUser } from '../support/harness.ts'

const onlyPath = /^\/api\/v1\/users\/alice\/avatar$/
const onNode = /^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/users\/alice\/avatar$/

describeMatrix('reading', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
  })

  /** Publishes versions of one skill with different bodies. */
  async function publishVersions(name: string, ...versions: string[]) {
    for (const version of versions) {
      await alice.api.publishSkill({ skillMd: skillMd(name, { body: `Body of ${version}.` }), version })
    }
  }

  it('shows the details of a skill, with every field', async () => {
    const text = `---\nname: whole\ndescription: All of it.\nlicense: MIT\nmetadata:\n  category: Docs\n  keywords: one, two\n---\n# Whole\n\nA summary.\n`
    const files = [
      { path: 'b.txt', content: 'b' },
      { path: 'a/c.txt', content: 'c' },
    ]
    await alice.api.publishSkill({ skillMd: text, files, changelog: 'Begun.', repository: 'https://example.com/r' })
    const skill = await test.api().getSkill({ name: 'alice/whole' })
    const at = '2026-01-02T12:00:00.000Z'
    expect(skill).toEqual({
      id: skill.id,
      name: 'whole',
      fullName: 'alice/whole',
      displayName: 'whole',
      description: 'All of it.',
      latestVersion: '1.0.0',
      downloads: 0,
      stars: 0,
      forks: 0,
      dependents: 0,
      requires: { skills: [], commands: [], mcpServers: [], env: [] },
      securityScore: 100,
      verified: false,
      deprecated: false,
      deprecationMessage: '',
      category: 'Docs',
      license: 'MIT',
      keywords: ['one', 'two'],
      author: {
        id: skill.author.id,
        username: 'alice',
        avatarUrl: expect.stringMatching(transport === 'HTTP' ? onNode : onlyPath),
      },
      publishedAt: at,
      createdAt: at,
      updatedAt: at,
      visibility: 'public',
      stub: false,
      repository: 'https://example.com/r',
      digest: skill.digest,
      size: Buffer.byteLength(text) + 2,
      files: [
        {
          path: 'SKILL.md',
          size: Buffer.byteLength(text),
          digest: expect.stringMatching(/^sha256:/),
        },
        {
          path: 'a/c.txt',
          size: 1,
          digest: expect.stringMatching(/^sha256:/),
        },
        {
          path: 'b.txt',
          size: 1,
          digest: expect.stringMatching(/^sha256:/),
        },
      ],
      versions: [
        {
          version: '1.0.0',
          publishedAt: at,
          digest: skill.digest,
          changelog: 'Begun.',
          yanked: false,
        },
      ],
      forkedFrom: null,
      frontmatter: {
        name: 'whole',
        description: 'All of it.',
        license: 'MIT',
        metadata: {
          category: 'Docs',
          keywords: 'one, two',
        },
      },
      summary: skill.summary,
      contract: null,
      capabilities: [],
      access: { tools: [], commands: [], hosts: [], environment: [], packages: [], files: [], cut: [] },
      widens: null,
      change: null,
      opinion: null,
      security: {
        score: 100,
        verdict: 'safe',
        risk: 'none',
        findings: [],
        cut: [],
        rulesVersion: skill.security!.rulesVersion,
        scannedAt: at,
      },
      origin: {
        kind: 'local',
        upstream: null,
        syncedAt: null,
      },
    })
    expect(skill.summary).toContain('A summary.')
  })

  it('shows the details of an older version by its number', async () => {
    await publishVersions('dated', '1.0.0', '2.0.0')
    const [old, latest] = [
      await test.api().getSkill({ name: 'dated', version: '1.0.0' }),
      await test.api().getSkill({ name: 'dated' }),
    ]
    expect(old.latestVersion).toBe('2.0.0')
    expect(old.digest).toBe(latest.versions[1]!.digest)
    expect(old.digest).not.toBe(latest.digest)
    expect(await codeOf(test.api().getSkill({ name: 'dated', version: '3.0.0' }))).toBe('not_found')
  })

  it('accepts `latest` for the default version', async () => {
    const input = { name: 'alice/latest-one' }
    await alice.api.publishSkill({ skillMd: skillMd('latest-one', { body: 'One.' }) })
    await alice.api.publishSkill({ skillMd: skillMd('latest-one', { body: 'Two.' }) })
    const latest = { ...input, version: 'latest' }
    expect(await test.api().getSkill(latest)).toEqual(await test.api().getSkill(input))
    expect(await test.api().getSkillMd(latest)).toEqual(await test.api().getSkillMd(input))
    expect(await test.api().loadSkill({ ...latest, level: 'summary' })).toEqual(
      await test.api().loadSkill({ ...input, level: 'summary' }),
    )
    expect((await test.api().getFile({ ...latest, path: 'SKILL.md' })).etag).toBe(
      (await test.api().getFile({ ...input, path: 'SKILL.md' })).etag,
    )
    expect(await codeOf(test.api().getSkill({ ...input, version: 'newest' }))).toBe('invalid_request')
  })

  it('lists versions highest first, in pages', async () => {
    await publishVersions('paged', '1.0.0', '1.0.10', '1.0.9')
    const { versions, ...rest } = await test.api().listVersions({ name: 'paged', limit: 2 })
    expect(versions.map(({ version }) => version)).toEqual(['1.0.10', '1.0.9'])
    expect(rest).toEqual({ total: 3, page: 1, totalPages: 2 })
    const second = await test.api().listVersions({ name: 'paged', limit: 2, page: 2 })
    expect(second.versions.map(({ version }) => version)).toEqual(['1.0.0'])
    const past = await test.api().listVersions({ name: 'paged', limit: 2, page: 9 })
    expect(past).toEqual({ versions: [], total: 3, page: 9, totalPages: 2 })
  })

  it('shows one version with its files and its publisher', async () => {
    await publishVersions('single', '1.0.0')
    const version = await test.api().getVersion({ name: 'single', version: '1.0.0' })
    expect(version).toMatchObject({ version: '1.0.0', yanked: false, portable: true, security: { score: 100 } })
    expect(version.publisher.username).toBe('alice')
    expect(await codeOf(test.api().getVersion({ name: 'single', version: '1.0.1' }))).toBe('not_found')
    expect(await codeOf(test.api().getVersion({ name: 'single', version: 'latest' }))).toBe('not_found')
  })

  it('serves SKILL.md as published, byte for byte', async () => {
    const text = '---\r\nname: exact\r\ndescription: Kept — 中文 🎉\r\n---\r\n\r\nTail without an end'
    await alice.api.publishSkill({ skillMd: text })
    const content = await test.api().getSkillMd({ name: 'exact' })
    expect(content.contentType).toBe('text/markdown; charset=utf-8')
    expect(await bytesOf(content)).toEqual(Buffer.from(text))
  })

  it('serves an archive with the same bytes every time, with SKILL.md at its root', async () => {
    const files = [
      { path: 'scripts/run.sh', content: 'echo\n' },
      { path: 'a.txt', content: 'a'.repeat(5000) },
    ]
    await alice.api.publishSkill({ skillMd: skillMd('zipped'), files })
    const first = await bytesOf(await test.api().getArchive({ name: 'zipped' }))
    const unpacked = await readArchive(first, 'zip')
    expect(Buffer.from(unpacked.skillMd).toString()).toBe(skillMd('zipped'))
    expect(unpacked.files.map(({ path }) => path).toSorted()).toEqual(['a.txt', 'scripts/run.sh'])
    test.clock.advance(86_400_000)
    await alice.api.publishSkill({
      skillMd: skillMd('zipped-again').replaceAll('zipped-again', 'zipped'),
      files: files.toReversed(),
      version: '1.1.0',
    })
    const second = await bytesOf(await test.api().getArchive({ name: 'zipped', version: '1.1.0' }))
    expect(second.equals(first)).toBe(true)
  })

  it('serves only the files of a version', async () => {
    const files = [
      { path: 'docs/page.html', content: '<script>' },
      { path: 'docs/read me.md', content: 'Read.' },
    ]
    await alice.api.publishSkill({ skillMd: skillMd('files'), files })
    const page = await test.api().getFile({ name: 'files', path: 'docs/page.html' })
    expect(page.contentType, 'nothing that a browser could run').toBe('application/octet-stream')
    expect(await textOf(await test.api().getFile({ name: 'files', path: 'docs/read me.md' }))).toBe('Read.')
    expect(await textOf(await test.api().getFile({ name: 'files', path: 'SKILL.md' }))).toBe(skillMd('files'))
    for (const path of ['docs', 'docs/', '../files/SKILL.md', 'docs/../SKILL.md', 'skill.md', 'none.txt']) {
      expect(await codeOf(test.api().getFile({ name: 'files', path })), `${path}`).toBe('not_found')
    }
  })

  it.runIf(transport === 'HTTP')('serves published bytes so that they cannot run in the node’s origin', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('served'), files: [{ path: 'a.html', content: '<b>' }] })
    for (const path of ['skill.md', 'files/a.html', 'archive']) {
      const { headers } = await test.request(`/api/v1/skills/alice%2Fserved/${path}`)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
      expect(headers.get('content-disposition')).toMatch(path === 'skill.md' ? /^inline|^$/ : /^attachment/)
    }
  })

  it.each(['unknown-user/nothing', 'nothing-at-all', 'UPPER', '..', '%', 'a/b/c', '\0', 'x'.repeat(128), '\u{1F600}'])(
    'returns not_found, or an error for an invalid name, for %j',
    async (name) => {
      const code = await codeOf(test.api().getSkill({ name }))
      expect(name === '\0' ? ['invalid_request'] : ['not_found', 'invalid_request']).toContain(code)
    },
  )

  describe('a yanked version', () => {
    it('is replaced as the latest by the next lower version, is still served by number, and can be restored', async () => {
      await publishVersions('pulled', '1.0.0', '2.0.0')
      await alice.api.yankVersion({ name: 'pulled', version: '2.0.0' })
      const skill = await test.api().getSkill({ name: 'pulled' })
      expect(skill.latestVersion).toBe('1.0.0')
      expect(skill.versions.map(({ version, yanked }) => [version, yanked])).toEqual([
        ['2.0.0', true],
        ['1.0.0', false],
      ])
      expect(await textOf(await test.api().getSkillMd({ name: 'pulled' }))).toContain('Body of 1.0.0.')
      expect(await textOf(await test.api().getSkillMd({ name: 'pulled', version: '2.0.0' }))).toContain(
        'Body of 2.0.0.',
      )
      const digest = skill.versions[0]!.digest
      expect((await test.api().getVersion({ name: 'pulled', version: '2.0.0' })).digest).toBe(digest)
      await alice.api.unyankVersion({ name: 'pulled', version: '2.0.0' })
      expect((await test.api().getSkill({ name: 'pulled' })).latestVersion).toBe('2.0.0')
    })

    it('keeps its number, so that the next patch is above it', async () => {
      await publishVersions('pulled-number', '1.0.0')
      await alice.api.yankVersion({ name: 'pulled-number', version: '1.0.0' })
      const other = { skillMd: skillMd('pulled-number', { body: 'Other.' }) }
      expect(await codeOf(alice.api.publishSkill({ ...other, version: '1.0.0' }))).toBe('version_exists')
      expect((await alice.api.publishSkill(other)).version.version).toBe('1.0.1')
    })

    it('that was the only version removes the skill from every list, but the skill can still be read', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('emptied', { description: 'Quagga.' }), category: 'Emptied' })
      await alice.api.yankVersion({ name: 'emptied', version: '1.0.0' })
      expect((await alice.api.searchSkills({ q: 'quagga' })).total).toBe(0)
      expect(
        (await test.api().searchSkills({ owner: 'alice', limit: 100 })).skills.map(({ name }) => name),
      ).not.toContain('emptied')
      expect((await test.api().listCategories()).categories.map(({ name }) => name)).not.toContain('Emptied')
      expect((await test.api().suggest({ q: 'empt' })).suggestions).not.toContain('emptied')
      expect(await test.api().getSkill({ name: 'emptied' })).toMatchObject({
        latestVersion: '',
        files: [],
        digest: null,
      })
      expect(await codeOf(test.api().getSkillMd({ name: 'emptied' }))).toBe('not_found')
      expect(await textOf(await test.api().getSkillMd({ name: 'emptied', version: '1.0.0' }))).toContain('Quagga')
      await alice.api.unyankVersion({ name: 'emptied', version: '1.0.0' })
      expect((await alice.api.searchSkills({ q: 'quagga' })).total).toBe(1)
    })

    it('can be yanked only by users who may publish, any number of times', async () => {
      await publishVersions('pulled-twice', '1.0.0')
      expect(await codeOf(test.api().yankVersion({ name: 'pulled-twice', version: '1.0.0' }))).toBe('unauthorized')
      expect(await codeOf(bob.api.yankVersion({ name: 'pulled-twice', version: '1.0.0' }))).toBe('forbidden')
      expect(await codeOf(alice.api.yankVersion({ name: 'pulled-twice', version: '9.0.0' }))).toBe('not_found')
      await alice.api.yankVersion({ name: 'pulled-twice', version: '1.0.0' })
      const { head } = await test.api().getFeed()
      expect(await test.statusOf(alice, 'yankVersion', { name: 'pulled-twice', version: '1.0.0' })).toBe(204)
      expect((await test.api().getFeed()).head).toBe(head)
    })
  })

  describe('a deleted skill', () => {
    it('is gone everywhere, and its name stays reserved', async () => {
      const { skill } = await alice.api.publishSkill({ skillMd: skillMd('deleted', { description: 'Thylacine.' }) })
      const { skill: others } = await bob.api.publishSkill({ skillMd: skillMd('deleted', { description: 'His.' }) })
      expect(await codeOf(bob.api.deleteSkill({ name: 'alice/deleted' }))).toBe('forbidden')
      expect(await test.statusOf(alice, 'deleteSkill', { name: 'deleted' })).toBe(204)
      for (const api of [test.api(), alice.api, bob.api]) {
        expect(await codeOf(api.getSkill({ name: 'alice/deleted' }))).toBe('not_found')
        expect(await codeOf(api.getSkillMd({ name: 'alice/deleted', version: '1.0.0' }))).toBe('not_found')
        expect((await api.searchSkills({ q: 'thylacine' })).total).toBe(0)
      }
      expect(await codeOf(test.api().getBlob({ digest: skill.files[0]!.digest }))).toBe('not_found')
      expect(await codeOf(alice.api.publishSkill({ skillMd: skillMd('deleted') }))).toBe('name_taken')
      expect(await codeOf(test.api().getSkill({ name: 'deleted' })), 'no other slips under the name').toBe('not_found')
      expect((await test.api().getSkill({ name: others.fullName })).description).toBe('His.')
      expect(await codeOf(alice.api.deleteSkill({ name: 'alice/deleted' }))).toBe('not_found')
    })
  })
})
