import { systemCaller } from '@skillstead/core'
import { importVersion, partsOf } from '@skillstead/core/internal'
import type { KyselyPlugin } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { createArtifacts } from '../../packages/core/src/catalogue/offers/artifacts.ts'
import { skillMd } from '../support/answers.ts'
import { createStub } from '../support/create-stub.ts'
import { folder, serve } from '../support/discovery-acts.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { sampleOf } from '../support/security-samples.ts'

describeDatabases('a discovery index', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    await alice.api.publishSkill({ skillMd: skillMd('kept') })
  })

  it('omits skills that are not public, and skills without content', async () => {
    const installer = await serve(test)
    const { publishSkill } = alice.api
    for (const name of ['hidden', 'removed', 'yanked', 'deleted']) await publishSkill({ skillMd: skillMd(name) })
    for (const visibility of ['private', 'internal'] as const)
      await publishSkill({ skillMd: skillMd(visibility), visibility })
    const { id } = await test.registry.getCaller('alice').then(({ userId }) => ({ id: userId }))
    const owner = { id, username: 'alice' }
    await createStub(test.registry, { owner, name: 'stub', description: 'S.', repository: '' })
    const names = ['hidden', 'removed', 'yanked', 'deleted', 'private', 'internal', 'kept']
    await alice.api.createPack({ name: 'All', description: '', skills: names.map((name) => `alice/${name}`) })
    await test.admin.api.moderateSkill({ name: 'alice/hidden', state: 'hidden', reason: 'Because.' })
    await alice.api.yankVersion({ name: 'alice/yanked', version: '1.0.0' })
    await alice.api.deleteSkill({ name: 'alice/deleted' })
    const given = await installer.get(`/alice/removed${folder}/removed-1.0.0.md`)
    const etag = given.headers.get('etag')!
    // A cache must revalidate its copy.
    expect(given.headers.get('cache-control')).toBe('no-cache')
    await takeDown('alice/removed')
    expect(await installer.names('/alice')).toEqual(['kept'])
    expect(await installer.names('/packs/all')).toEqual(['kept'])
    for (const name of ['hidden', 'yanked', 'deleted', 'private', 'internal', 'stub']) {
      expect(await installer.names(`/alice/${name}`), name).toBe(404)
      const status = (await installer.get(`/alice${folder}/${name}-1.0.0.md`)).status
      expect(status, name).toBe(name === 'yanked' ? 200 : 404)
    }
    expect(await installer.names('/alice/removed')).toBe(451)
    const removed = await installer.get(`/alice/removed${folder}/removed-1.0.0.md`, {
      headers: { 'if-none-match': etag },
    })
    expect(removed.status).toBe(451)
    expect(removed.headers.get('cache-control')).toBe('private, no-store')
    // A client that names the version gets it.
    expect(await installer.names('/alice/yanked@1.0.0')).toEqual(['yanked'])
  })

  it('omits skills that installers would drop silently, and the URL of such a skill returns an error', async () => {
    const installer = await serve(test)
    const fields = { description: 'Given next to the document.' }
    const documents = {
      bare: '# No frontmatter\n',
      doubled: '---\nname: doubled\nname: doubled\ndescription: Twice.\n---\nText.\n',
      colon: '---\nname: colon\ndescription: Reads files: all of them\n---\nText.\n',
      late: '\n---\nname: late\ndescription: Not from the first line on.\n---\nText.\n',
    }
    for (const [name, document] of Object.entries(documents)) {
      const item = { owner: 'lenient', name, skillMd: document, ...(name === 'bare' && fields) }
      await importVersion(partsOf(test.registry), item, systemCaller)
      const response = await installer.ask(`/lenient/${name}`)
      expect(response.status, name).toBe(404)
      expect(((await response.json()) as { detail: string }).detail).toContain(`lenient/${name}@`)
    }
    expect(await installer.names('/lenient')).toBe(404)
    await importVersion(
      partsOf(test.registry),
      { owner: 'lenient', name: 'strict', skillMd: skillMd('strict') },
      systemCaller,
    )
    expect(await installer.names('/lenient')).toEqual(['strict'])
  })

  it('omits dangerous skills from lists, but includes a dangerous skill at its own URL', async () => {
    const installer = await serve(test)
    const dora = await test.makeUser('dora')
    for (const verdict of ['safe', 'caution', 'dangerous'] as const)
      await dora.api.publishSkill({ skillMd: sampleOf(verdict, verdict) })
    await dora.api.publishSkill({ skillMd: skillMd('marked') })
    await test.admin.api.moderateSkill({ name: 'dora/marked', state: 'flagged', reason: 'Because.' })
    const skills = ['dora/dangerous', 'dora/marked', 'dora/safe']
    await dora.api.createPack({ name: 'Risky', description: '', skills })
    expect(await installer.names('/dora')).toEqual(['caution', 'safe'])
    expect(await installer.names('/packs/risky')).toEqual(['safe'])
    expect(await installer.names('/dora/dangerous')).toEqual(['dangerous'])
    expect(await installer.names('/dora/marked')).toEqual(['marked'])
  })

  it("describes an old version by its SKILL.md, and the latest by the owner's text, cut to 1,024 characters", async () => {
    const installer = await serve(test)
    const { publishSkill } = alice.api
    await publishSkill({ skillMd: skillMd('told', { description: 'The first.' }), files: [] })
    await publishSkill({ skillMd: skillMd('told', { description: 'The second.' }) })
    await publishSkill({ name: 'alice/told', description: `${'As the owner says it. '.repeat(100)}` })
    const said = async (scope: string) => (await installer.index(scope)).skills[0]!.description
    expect(await said('/alice/told@1.0.0')).toBe('The first.')
    const long = await said('/alice/told')
    expect(long).toMatch(/^As the owner says it\. .*\w\.?…$/)
    expect(long.length).toBeLessThanOrEqual(1024)
    expect(long.length).toBeGreaterThan(1000)
  })

  it('of an owner has the 200 most downloaded skills that can be installed', async () => {
    const installer = await serve(test)
    const bare = { owner: 'prolific', name: 'bare', description: 'No frontmatter.', skillMd: '# Bare\n' }
    await importVersion(partsOf(test.registry), bare, systemCaller)
    await test.api().getSkillMd({ name: 'prolific/bare' })
    for (let number = 0; number < 203; number++)
      await importVersion(
        partsOf(test.registry),
        { owner: 'prolific', name: toName(number), skillMd: skillMd(toName(number)) },
        systemCaller,
      )
    const used = await test.api().getSkillMd({ name: `prolific/${toName(202)}` })
    expect(used).toBeDefined()
    await partsOf(test.registry).counters.flush()
    const names = (await installer.names('/prolific')) as string[]
    expect(names).toHaveLength(200)
    expect(names.at(-1)).toBe(toName(202))
    expect(names).not.toContain(toName(201))
    expect(names).toEqual(names.toSorted())
  })

  it('needs one more query for every twenty skills, and no query for cached files', async () => {
    let queries = 0
    const counter: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        queries += 1
        return result
      },
    }
    const { read } = partsOf(test.registry).database
    const artifacts = createArtifacts({ read: read.withPlugin(counter) })
    const versions = await read.selectFrom('versions').select(['id', 'digest']).limit(40).execute()
    const countOf = async (some: typeof versions) => {
      queries = 0
      await artifacts.describe(some)
      return queries
    }
    expect(await countOf(versions.slice(0, 2))).toBe(2)
    expect(await countOf(versions.slice(2, 40))).toBe(3)
    expect(await countOf(versions)).toBe(0)
  })

  it('is computed once for concurrent requests', async () => {
    let blobs = 0
    const counter: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows.some((row) => 'encoding' in row)) blobs += result.rows.length
        return result
      },
    }
    const { read } = partsOf(test.registry).database
    const artifacts = createArtifacts({ read: read.withPlugin(counter) })
    const versions = await read.selectFrom('versions').select(['id', 'digest']).limit(40).execute()
    const all = await Promise.all(Array.from({ length: 5 }, () => artifacts.describe(versions)))
    for (const described of all) expect(described).toEqual(all[0])
    expect(blobs).toBe(new Set(versions.map(({ digest }) => digest)).size)
  })

  async function takeDown(skillName: string): Promise<void> {
    const { id } = await test.api().submitDmca({
      skillName,
      claimantName: 'C. Laimant',
      claimantEmail: 'c@example.com',
      workDescription: 'A work.',
      goodFaith: true,
      accuracy: true,
      signature: 'C. Laimant',
    })
    for (const status of ['under_review', 'removed'] as const)
      await test.admin.api.updateDmca({ id, status, note: 'N.' })
  }
})

function toName(number: number): string {
  return `many-${String(number).padStart(3, '0')}`
}
