import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { hookUp, openSilent } from '../support/webhook-emitted.ts'

const body = (...commands: string[]) => `# Steps\n\n\`\`\`bash\n${commands.join('\n')}\n\`\`\`\n`
const nothing = { tools: [], commands: [], hosts: [], environment: [], packages: [], files: [], cut: [] }
const git = { ...nothing, commands: ['git'] }
const curl = { ...nothing, commands: ['curl'], hosts: ['api.tea.dev'], environment: ['TEA_KEY'] }
const callTea = 'curl -H "Authorization: $TEA_KEY" https://api.tea.dev/v1'

async function publish(owner: TestUser, name: string, version: string, ...commands: string[]): Promise<void> {
  await owner.api.publishSkill({ skillMd: skillMd(name, { body: `${body(...commands)}\n${version}\n` }), version })
}

/** The heartbeat response for these installed skills. */
async function beat({ api }: TestRegistry, ...installed: [skillName: string, version: string][]) {
  const installedSkills = installed.map(([skillName, version]) => ({ skillName, version }))
  return (await api().heartbeat({ installedSkills })).updates
}

describeApi('the access of a version', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await openSilent(open)
    alice = await test.makeUser('alice', { plan: 'pro' })
    bob = await test.makeUser('bob')
    await publish(alice, 'tea', '1.0.0', 'git push')
    await publish(alice, 'tea', '1.0.1', 'git push', callTea)
    await publish(alice, 'tea', '1.1.0', 'git push', callTea, 'cat ~/.ssh/id_rsa')
  })

  it('is in the details of the version and its skill, with the access that the version newly adds', async () => {
    const first = await test.api().getVersion({ name: 'tea', version: '1.0.0' })
    expect(first).toMatchObject({ access: git, widens: null })
    const second = await test.api().getVersion({ name: 'tea', version: '1.0.1' })
    expect(second.access).toEqual({ ...curl, commands: ['curl', 'git'] })
    expect(second.widens).toEqual({ since: '1.0.0', patch: true, added: curl })
    const added = { ...nothing, commands: ['cat'], files: ['~/.ssh'] }
    const skill = await test.api().getSkill({ name: 'tea' })
    expect(skill.access!.commands).toEqual(['cat', 'curl', 'git'])
    expect(skill.widens).toEqual({ since: '1.0.1', patch: false, added })
    expect(await test.api().getSkill({ name: 'tea', version: '1.0.1' })).toMatchObject({
      access: second.access,
      widens: second.widens,
    })
    const { versions } = await test.api().listVersions({ name: 'tea' })
    expect(versions.map(({ widens }) => widens?.since)).toEqual(['1.0.1', '1.0.0', undefined])
  })

  it('includes the servers of its mcp.json, and marks the servers that the version adds', async () => {
    const $schema = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json'
    const tickets = { type: 'stdio', command: './bin/server' }
    const publishWith = (version: string, mcpServers: object) => {
      const files = [
        { path: 'mcp.json', content: JSON.stringify({ $schema, mcpServers }) },
        { path: 'bin/server', content: '#!/bin/sh\n' },
      ]
      return alice.api.publishSkill({ skillMd: skillMd('served'), version, files })
    }
    await publishWith('1.0.0', { tickets })
    await publishWith('1.0.1', { tickets, api: { type: 'sse', url: 'https://api.tea.dev/sse' } })
    await publishWith('1.0.2', { tickets, api: { type: 'sse', url: 'https://other.tea.dev/sse' } })
    const [first, second, third] = await Promise.all(
      ['1.0.0', '1.0.1', '1.0.2'].map((version) => test.api().getVersion({ name: 'served', version })),
    )
    expect(first!.access).toEqual({ ...nothing, tools: ['mcp__tickets (stdio ./bin/server)'] })
    const added = { ...nothing, tools: ['mcp__api (sse api.tea.dev)'], hosts: ['api.tea.dev'] }
    expect(second!.widens).toEqual({ since: '1.0.0', patch: true, added })
    expect(third!.widens!.added.tools).toEqual(['mcp__api (sse other.tea.dev)'])
  })

  it('is compared with the next lower version, even if that version is on another page of the list', async () => {
    const { versions } = await test.api().listVersions({ name: 'tea', limit: 1, page: 2 })
    expect(versions).toMatchObject([{ version: '1.0.1', widens: { since: '1.0.0' } }])
  })

  it('is compared only with versions that are not yanked at the time of the request', async () => {
    await publish(alice, 'mate', '1.0.0', 'git push')
    await publish(alice, 'mate', '1.0.1', 'git push', callTea)
    await publish(alice, 'mate', '1.0.2', 'git push', callTea)
    expect((await test.api().getSkill({ name: 'mate' })).widens).toBeNull()
    await alice.api.yankVersion({ name: 'mate', version: '1.0.1' })
    expect((await test.api().getSkill({ name: 'mate' })).widens).toEqual({ since: '1.0.0', patch: true, added: curl })
    expect((await test.api().getVersion({ name: 'mate', version: '1.0.1' })).widens).toMatchObject({ since: '1.0.0' })
  })

  it('is returned by a dry run, which stores nothing', async () => {
    const input = { skillMd: skillMd('dry', { body: body('git push') }), dryRun: true }
    expect((await alice.api.publishSkill(input)).version).toMatchObject({ access: git, widens: null })
    expect(await codeOf(test.api().getSkill({ name: 'dry' }))).toBe('not_found')
  })

  it('is copied to a fork', async () => {
    await bob.api.forkSkill({ name: 'tea', newName: 'leaves' })
    const fork = await test.api().getSkill({ name: 'bob/leaves' })
    expect(fork.access!.commands).toEqual(['cat', 'curl', 'git'])
    expect(fork.widens).toBeNull()
  })

  it('includes the access of every file of the version', async () => {
    const files = [{ path: 'scripts/run.sh', content: '#!/bin/sh\ncurl https://files.tea.dev\n' }]
    const { version } = await alice.api.publishSkill({ skillMd: skillMd('scripted'), files })
    expect(version.access).toMatchObject({ commands: ['curl'], hosts: ['files.tea.dev'] })
  })

  it('is sent to webhooks only if it is wider than the access of the previous version', async () => {
    const hook = await hookUp(test, alice, { events: ['skill.published'] })
    await publish(alice, 'told', '1.0.0', 'git push')
    await publish(alice, 'told', '1.0.1', 'git push', callTea)
    await publish(alice, 'told', '1.0.2', 'git push')
    const data = (await hook.take()).map((told) => told.data as { widens?: unknown })
    expect(data.map((each) => each.widens)).toEqual([
      undefined,
      { since: '1.0.0', patch: true, added: curl },
      undefined,
    ])
    expect(data.filter((each) => 'widens' in each)).toHaveLength(1)
  })

  describe('is reported to agents with an update', () => {
    it('including the access that the update would add', async () => {
      const [tea] = await beat(test, ['tea', '1.0.0'])
      const added = { ...curl, commands: ['cat', 'curl'], files: ['~/.ssh'] }
      expect(tea).toMatchObject({ reason: 'outdated', widens: { since: '1.0.0', patch: false, added } })
      expect(tea!.message).toBe(
        'alice/tea is at 1.1.0, and you have 1.0.0. Update it. Review it first: it newly uses ' +
          '2 commands, 1 host, 1 environment variable and 1 file path.',
      )
    })

    it('with a mark if the update is a patch release', async () => {
      await publish(alice, 'patched', '1.0.0', 'git push')
      await publish(alice, 'patched', '1.0.1', 'git push', 'jq .')
      const [patched] = await beat(test, ['patched', '1.0.0'])
      expect(patched!.widens).toMatchObject({ patch: true })
      expect(patched!.message).toContain('although it is a patch, it newly uses 1 command.')
    })

    it('but not if the update adds no access or the installed version is unknown', async () => {
      await publish(alice, 'same', '1.0.0', 'git push', callTea)
      await publish(alice, 'same', '1.1.0', 'git push')
      for (const version of ['1.0.0', '0.9.0', 'latest']) {
        const [same] = await beat(test, ['same', version])
        expect(same).toMatchObject({ reason: 'outdated', widens: null })
        expect(same!.message).not.toContain('Review it first')
      }
      const [tea] = await beat(test, ['tea', '1.0.7'])
      expect(tea).toMatchObject({ reason: 'outdated', widens: null })
    })

    it('for each skill separately', async () => {
      const updates = await beat(test, ['same', '1.0.0'], ['patched', '1.0.0'], ['tea', '1.0.1'])
      expect(updates.map(({ fullName, widens }) => [fullName, widens?.since])).toEqual([
        ['alice/same', undefined],
        ['alice/patched', '1.0.0'],
        ['alice/tea', '1.0.1'],
      ])
    })
  })
})

const large = (of: string) =>
  Array.from({ length: 8 }, (_, i) => ({
    path: `${i}.txt`,
    content: `${of}\n${`${of}${'x'.repeat(98)}\n`.repeat(4000)}`,
  }))

describeApi('the difference between two versions', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    await test.makeUser('bob')
    const image = { path: 'assets/a.png', content: 'iVBORwD/', encoding: 'base64' as const }
    const kept = { path: 'kept.md', content: 'Kept.\n' }
    await alice.api.publishSkill({
      skillMd: skillMd('tea', { body: body('git push') }),
      version: '1.0.0',
      files: [kept, { path: 'gone here.md', content: 'Gone.' }, image],
    })
    await alice.api.publishSkill({
      skillMd: skillMd('tea', { body: body('git push', callTea) }),
      version: '1.0.1',
      files: [kept, { path: 'new.md', content: 'New.\n' }, { ...image, content: 'iVBORwD+' }],
    })
  })
  const diff = (from = '1.0.0', to = '1.0.1', name = 'tea', api = test.api()) => api.diffSkill({ name, from, to })

  it('contains a patch of every differing file, and the access that the later version adds', async () => {
    const found = await diff()
    expect(found).toMatchObject({ skill: { fullName: 'alice/tea' }, from: '1.0.0', to: '1.0.1' })
    expect(found.files.map(({ path, status, binary, omitted }) => [path, status, binary, omitted])).toEqual([
      ['SKILL.md', 'changed', false, undefined],
      ['assets/a.png', 'changed', true, 'binary'],
      ['gone here.md', 'removed', false, undefined],
      ['new.md', 'added', false, undefined],
    ])
    expect(found.files[0]!.diff).toContain(`\n+${callTea}\n`)
    expect(found.files[0]!.diff).not.toContain('-git push')
    expect(found.access).toEqual({ added: curl, removed: nothing })
    const { score, verdict } = (await test.api().getVersion({ name: 'tea', version: '1.0.0' })).security!
    expect(found.security.from).toEqual({ score, verdict })
  })

  it('is reversed if it is requested from the later version to the earlier one', async () => {
    const found = await diff('1.0.1', '1.0.0')
    expect(found.access).toEqual({ added: nothing, removed: curl })
    expect(found.files[0]!.diff).toContain(`\n-${callTea}\n`)
  })

  it('is empty between a version and itself', async () => {
    expect(await diff('1.0.1', '1.0.1')).toMatchObject({ files: [], access: { added: nothing, removed: nothing } })
  })

  it('is also returned for yanked versions', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('off'), version: '1.0.0' })
    await alice.api.publishSkill({ skillMd: skillMd('off', { body: 'More.' }), version: '1.1.0' })
    await alice.api.yankVersion({ name: 'off', version: '1.1.0' })
    expect((await diff('1.0.0', '1.1.0', 'off')).files).toHaveLength(1)
  })

  it('is refused for unknown and invalid versions', async () => {
    expect(await codeOf(diff('1.0.0', '9.9.9'))).toBe('not_found')
    expect(await codeOf(diff('0.9.0', '1.0.0'))).toBe('not_found')
    expect(await codeOf(diff('1.0.0', 'latest'))).toBe('invalid_request')
    expect(await codeOf(diff('1.0.0', '1.0.1', 'nowhere'))).toBe('not_found')
  })

  it('is returned only to users who may see the skill', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('own'), visibility: 'private' })
    const own = (api = test.api()) => codeOf(diff('1.0.0', '1.0.0', 'alice/own', api))
    expect(await own()).toBe('not_found')
    expect(await own(test.api('bob'))).toBe('not_found')
    expect((await diff('1.0.0', '1.0.0', 'alice/own', alice.api)).files).toEqual([])
  })

  it('omits patches that would make the response too large', async () => {
    for (const [version, of] of [
      ['1.0.0', 'a'],
      ['1.0.1', 'b'],
    ] as const)
      await alice.api.publishSkill({ skillMd: skillMd('large'), version, files: large(of) })
    const { files } = await diff('1.0.0', '1.0.1', 'large')
    expect(files.map(({ omitted }) => omitted)).toContain('too large')
    expect(files[0]!.diff).not.toBeNull()
    expect(files.reduce((sum, { diff: patch }) => sum + (patch?.length ?? 0), 0)).toBeLessThan(2 * 1024 * 1024)
  })
})
