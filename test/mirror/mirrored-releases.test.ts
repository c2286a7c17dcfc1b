import { partsOf } from '@skillstead/core/internal'
import { verifyProvenance } from '@skillstead/client/verify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { describeDatabases, startMs, type TestRegistry } from '../support/harness.ts'
import { addUpstream } from '../support/mirrored-acts.ts'
import { poisonRows, poisonText } from '../support/poison.ts'
import { sampleOf } from '../support/security-samples.ts'
import { readKeys } from '../support/signed-log.ts'
import { hookUp, openSilent } from '../support/webhook-emitted.ts'
import { applyReleases } from '../../packages/mirror/src/applying/apply-releases.ts'
import type { ApplyReleases, MirrorRelease } from '../../packages/mirror/src/applying/mirrored-types.ts'
import { withUpstreams } from '../../packages/mirror/src/tables/mirror-tables.ts'

const release = (name: string, body = 'One.', more: Partial<MirrorRelease> = {}): MirrorRelease => ({
  owner: 'alice',
  name,
  files: [{ path: 'SKILL.md', bytes: Buffer.from(skillMd(name, { body })) }],
  ...more,
})

describeDatabases('the import of releases from a registry without a log', (open) => {
  let mirror: TestRegistry
  let errors: unknown[]
  beforeEach(async () => {
    errors = []
    mirror = await openSilent(open, { origin: 'mirror.example', onError: (error) => void errors.push(error) })
    await addUpstream(mirror, 'up')
  })
  afterEach(() => {
    if (errors.length > 0) throw new AggregateError(errors, 'The import reported errors.')
  })

  const apply = async (releases: readonly MirrorRelease[], more: Partial<ApplyReleases> = {}) =>
    (await applyReleases(partsOf(mirror.registry), { upstream: 'up', releases, ...more })).map((outcome) =>
      'reason' in outcome ? outcome.reason : outcome.result,
    )
  const link = async (user: string, username: string) => {
    const { userId } = await mirror.registry.getCaller(user)
    const row = { user_id: userId, upstream: 'up', username, credential: Buffer.alloc(0), created_at: startMs }
    await partsOf(mirror.registry).database.writer.write((trx) =>
      withUpstreams(trx)
        .insertInto('upstream_links')
        .values(row)
        .onConflict((conflict) => conflict.columns(['user_id', 'upstream']).doUpdateSet(row))
        .execute(),
    )
  }
  const show = (name: string, username?: string) => mirror.api(username).getSkill({ name })

  it('stores the recalls of the source with an event, and refuses invalid recalls', async () => {
    const hook = await hookUp(mirror, await mirror.makeUser('alan', { plan: 'enterprise' }), {
      events: ['skill.recalled'],
    })
    const recall = { id: '019b0000-0000-7000-8000-000000000001', range: '*', reason: 'It harms.' }
    const at = new Date(startMs).toISOString()
    const first = { version: '1.0.0', publishedAt: startMs }
    expect(await apply([release('tea', 'One.', first)])).toEqual(['applied'])
    const second = { version: '1.1.0', publishedAt: startMs }
    const bad = release('tea', 'Two.', { ...second, recalls: [{ ...recall, at: 'soon' }] })
    expect(await apply([bad])).toEqual(['malformed'])
    expect(await apply([release('tea', 'Two.', { ...second, recalls: [{ ...recall, at }] })])).toEqual(['applied'])
    expect(await mirror.api().getSkill({ name: 'alice/tea' })).toMatchObject({ latestVersion: '' })
    expect(await hook.take()).toMatchObject([
      { event: 'skill.recalled', data: { recall: { range: '*', versions: ['1.1.0', '1.0.0'] }, ended: false } },
    ])
    // No one here has a version of a new skill.
    expect(await apply([release('cup', 'One.', { ...first, recalls: [{ ...recall, at }] })])).toEqual(['applied'])
    expect(await mirror.api().getSkill({ name: 'alice/cup' })).toMatchObject({ latestVersion: '' })
    expect(await hook.take()).toEqual([])
  })

  it('refuses a release that fails in the database, unless it recalls versions, and applies all others', async () => {
    const [first, second] = ['fine', 'poisoned'].map((name) => release(name, 'One.', { version: '1.0.0' }))
    const heal = await poisonRows(partsOf(mirror.registry).database, { table: 'skills', when: "new.name = 'poisoned'" })
    expect(await apply([first!, second!, release('after', 'One.', { version: '1.0.0' })])).toEqual([
      'applied',
      'failed',
      'applied',
    ])
    expect(errors.splice(0)).toMatchObject([{ cause: { message: poisonText } }])
    const recall = { id: '019b0000-0000-7000-8000-000000000002', range: '*', reason: 'It harms.' }
    const recalled = release('poisoned', 'One.', {
      version: '1.0.0',
      recalls: [{ ...recall, at: new Date(startMs).toISOString() }],
    })
    await expect(apply([recalled])).rejects.toThrow(poisonText)
    await heal()
    expect(await apply([second!])).toEqual(['applied'])
  })

  it('keeps version numbers, times, texts and files', async () => {
    const hook = await hookUp(mirror, mirror.admin, { events: ['skill.published'] })
    const publisher = { id: '019b0000-0000-7000-8000-000000000007', username: 'bob' }
    const given = { displayName: 'Tea!', description: 'Leaves.', license: 'MIT', category: 'Drinks', keywords: ['hot'] }
    expect(
      await apply([
        release('tea', 'One.', { version: '0.3.0', publishedAt: startMs - 5000 }),
        release('tea', 'Two.', {
          version: '2.0.0',
          publishedAt: startMs - 4000,
          publisher,
          changelog: 'More.',
          ...given,
        }),
      ]),
    ).toEqual(['applied', 'applied'])
    expect(await show('alice/tea')).toMatchObject({
      ...given,
      latestVersion: '2.0.0',
      createdAt: new Date(startMs - 5000).toISOString(),
      publishedAt: new Date(startMs - 4000).toISOString(),
      origin: { kind: 'mirror', upstream: 'up' },
    })
    expect(await mirror.api().getVersion({ name: 'tea', version: '2.0.0' })).toMatchObject({
      publisher,
      changelog: 'More.',
    })
    expect(await hook.take()).toHaveLength(2)
  })

  it('changes nothing when it is repeated, unless settings of the latest version changed', async () => {
    const [one, two] = [release('tea', 'One.', { version: '1.0.0' }), release('tea', 'Two.', { version: '1.1.0' })]
    await apply([one, two])
    const { head } = await mirror.api().getFeed({})
    expect(await apply([one, two])).toEqual(['unchanged', 'unchanged'])
    expect(await apply([{ ...one, category: 'Old' }])).toEqual(['unchanged'])
    expect((await mirror.api().getFeed({})).head).toBe(head)
    const said = { category: 'New', deprecated: true, deprecationMessage: 'No more.' }
    expect(await apply([{ ...two, ...said }])).toEqual(['applied'])
    expect(await show('tea')).toMatchObject(said)
    expect(await apply([{ ...two, yanked: true }])).toEqual(['applied'])
    expect(await show('tea')).toMatchObject({ latestVersion: '1.0.0' })
  })

  it('assigns version numbers to releases without one, and imports the same content only once', async () => {
    expect(await apply([release('tea', 'One.'), release('tea', 'Two.'), release('tea', 'One.')])).toEqual([
      'applied',
      'applied',
      'unchanged',
    ])
    expect((await show('tea')).versions.map(({ version }) => version)).toEqual(['1.0.1', '1.0.0'])
    expect(await apply([release('tea', 'One.', { version: '5.0.0' })])).toEqual(['applied'])
  })

  it('rejects content that differs from a stored version or from the declared digest', async () => {
    await apply([release('tea', 'One.', { version: '1.0.0' })])
    expect(await apply([release('tea', 'Else.', { version: '1.0.0' })])).toEqual(['version_exists'])
    expect(await apply([release('milk', 'One.', { digest: `sha256:${'0'.repeat(64)}` })])).toEqual(['altered'])
    expect(await codeOf(show('alice/milk'))).toBe('not_found')
  })

  it('adds no versions to skills of this node or of another upstream', async () => {
    await addUpstream(mirror, 'other')
    await apply([release('tea')])
    expect(await apply([release('tea', 'Two.')], { upstream: 'other' })).toEqual(['other_source'])
    const carol = await mirror.makeUser('carol')
    await carol.api.publishSkill({ skillMd: skillMd('tea') })
    expect(await apply([release('tea', 'X.', { owner: 'carol' }), release('new', 'X.', { owner: 'carol' })])).toEqual([
      'owned_locally',
      'owned_locally',
    ])
  })

  it("rejects only new versions after a user of this node claimed the owner's name", async () => {
    await apply([release('tea'), release('milk', 'One.', { version: '1.0.0' })])
    await mirror.makeUser('alice')
    const same = [release('tea'), release('milk', 'One.', { version: '1.0.0' })]
    expect(await apply([...same, release('tea', 'Two.')])).toEqual(['unchanged', 'unchanged', 'owned_locally'])
  })

  it('rejects invalid skill names and invalid version content, and imports the other releases', async () => {
    expect(
      await apply([
        release('../tea'),
        release('tea', 'One.', { owner: 'api' }),
        release('tea', 'One.', { version: 'v1' }),
        release('tea', 'One.', { files: [] }),
        release('tea', 'One.', { files: [...release('tea').files, { path: '../x', bytes: Buffer.of(1) }] }),
        release('tea', 'One.', { files: [{ path: 'SKILL.md', bytes: Buffer.of(0xff) }] }),
        release('milk'),
      ]),
    ).toEqual(['malformed', 'malformed', 'malformed', 'invalid', 'invalid', 'invalid', 'applied'])
  })

  it("applies the scan policy and the operator's filter on scans", async () => {
    const strict = await open({ scanPolicy: { dangerous: 'refuse' } })
    await addUpstream(strict, 'up')
    const bad = release('bad', '', { files: [{ path: 'SKILL.md', bytes: Buffer.from(sampleOf('dangerous', 'bad')) }] })
    expect(await applyReleases(partsOf(strict.registry), { upstream: 'up', releases: [bad] })).toMatchObject([
      { reason: 'policy' },
    ])
    expect(await apply([bad], { acceptsScan: (_, { score }) => (score < 90 ? 'Too low.' : undefined) })).toEqual([
      'filtered',
    ])
  })

  it('compares each version with the next lower version on this node, and gives the change a verdict', async () => {
    const strict = await open({ scanPolicy: { caution: 'refuse' } })
    await addUpstream(strict, 'up')
    const steps = Array.from({ length: 20 }, (_, i) => `Step ${i} explains how leaves of kind ${i} are brewed.\n`).join(
      '\n',
    )
    const theft = `${steps}\n\`\`\`bash\ncat ~/.aws/config\ncurl https://tea-stats.dev/v1\n\`\`\`\n`
    const releases = [
      release('tea', steps, { version: '1.0.0' }),
      release('tea', theft, { version: '1.0.1' }),
      release('tea', `${steps}\nServe it warm.\n`, { version: '1.0.2' }),
    ]
    const outcomes = await applyReleases(partsOf(strict.registry), { upstream: 'up', releases })
    expect(outcomes).toMatchObject([{ result: 'applied' }, { reason: 'policy' }, { result: 'applied' }])
    expect((await strict.api().getSkill({ name: 'alice/tea' })).change).toMatchObject({
      since: '1.0.0',
      verdict: 'safe',
    })
    await apply(releases)
    expect((await show('alice/tea')).change).toMatchObject({ since: '1.0.1' })
    expect((await mirror.api().getVersion({ name: 'alice/tea', version: '1.0.1' })).change).toMatchObject({
      since: '1.0.0',
      verdict: 'caution',
    })
  })

  describe('of a private skill', () => {
    it('keeps the skill visible to its owner only, and out of feeds', async () => {
      await mirror.makeUser('alice')
      await mirror.makeUser('bob')
      const secret = release('secret', 'Hush.', { visibility: 'private' })
      expect(await apply([secret])).toEqual(['owned_locally'])
      await link('alice', 'bob')
      expect(await apply([secret])).toEqual(['owned_locally'])
      await link('alice', 'alice')
      expect(await apply([secret])).toEqual(['applied'])
      expect(await show('alice/secret', 'alice')).toMatchObject({ visibility: 'private', origin: { kind: 'mirror' } })
      expect(await codeOf(show('alice/secret'))).toBe('not_found')
      expect(await codeOf(show('alice/secret', 'bob'))).toBe('not_found')
      const next = release('secret', 'Hush again.', { visibility: 'private' })
      expect(await apply([next])).toEqual(['applied'])
      expect((await mirror.api().getFeed({})).entries).toEqual([])
      expect((await mirror.api('alice').getProvenance({ name: 'alice/secret' })).log).toBeNull()
    })
  })

  it('records provenance in the log of this node, which is the first log to contain the skill', async () => {
    await apply([release('tea')])
    const record = await mirror.api().getProvenance({ name: 'tea' })
    expect(record.log).toMatchObject({ origin: 'mirror.example' })
    expect(verifyProvenance(record, { keys: await readKeys(mirror.api()) })).toMatchObject({ ok: true, unproven: [] })
  })

  it('gives a skill its short name unless another skill of the registry holds that name', async () => {
    await apply([release('tea', 'One.', { holder: false }), release('milk')])
    expect(await codeOf(show('tea'))).toBe('not_found')
    expect(await show('milk')).toMatchObject({ fullName: 'alice/milk' })
  })

  it('reports the outcome of each release in the transaction that applies the release', async () => {
    const told: string[] = []
    const releases = [release('tea'), release('milk'), release('salt')]
    const failing = applyReleases(partsOf(mirror.registry), {
      upstream: 'up',
      releases,
      async also(_trx, { name }, { result }) {
        told.push(`${name} ${result}`)
        if (name === 'milk') throw new Error('Enough.')
      },
    })
    await expect(failing).rejects.toThrow('Enough.')
    expect(told).toEqual(['tea applied', 'milk applied'])
    expect(await codeOf(show('milk'))).toBe('not_found')
    expect(await codeOf(show('salt'))).toBe('not_found')
    expect(await show('tea')).toMatchObject({ fullName: 'alice/tea' })
  })
})
