import { partsOf } from '@skillstead/core/internal'
import { verifyProvenance } from '@skillstead/client/verify'
import { beforeEach, describe, expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { describeDatabases, startMs, type TestRegistry } from '../support/harness.ts'
import { addUpstream } from '../support/mirrored-acts.ts'
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

describeDatabases('what is mirrored from a registry without a log', (open) => {
  let mirror: TestRegistry
  beforeEach(async () => {
    mirror = await openSilent(open, { origin: 'mirror.example' })
    await addUpstream(mirror, 'up')
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

  it('keeps numbers, times, texts and files as they are there', async () => {
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

  it('changes nothing when it comes again, and follows what is said anew of the latest', async () => {
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

  it('numbers what has no number, and never the same content twice', async () => {
    expect(await apply([release('tea', 'One.'), release('tea', 'Two.'), release('tea', 'One.')])).toEqual([
      'applied',
      'applied',
      'unchanged',
    ])
    expect((await show('tea')).versions.map(({ version }) => version)).toEqual(['1.0.1', '1.0.0'])
    expect(await apply([release('tea', 'One.', { version: '5.0.0' })])).toEqual(['applied'])
  })

  it('takes no other content for a number that is here, nor for a digest', async () => {
    await apply([release('tea', 'One.', { version: '1.0.0' })])
    expect(await apply([release('tea', 'Else.', { version: '1.0.0' })])).toEqual(['version_exists'])
    expect(await apply([release('milk', 'One.', { digest: `sha256:${'0'.repeat(64)}` })])).toEqual(['altered'])
    expect(await codeOf(show('alice/milk'))).toBe('not_found')
  })

  it('adds nothing to what is from here, or from another upstream', async () => {
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

  it('refuses only what is new under a name that was claimed since', async () => {
    await apply([release('tea'), release('milk', 'One.', { version: '1.0.0' })])
    await mirror.makeUser('alice')
    const same = [release('tea'), release('milk', 'One.', { version: '1.0.0' })]
    expect(await apply([...same, release('tea', 'Two.')])).toEqual(['unchanged', 'unchanged', 'owned_locally'])
  })

  it('refuses what no skill can be called, or no version can hold, and goes on with the rest', async () => {
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

  it('keeps to the policy on scans, and to what the operator asks of them', async () => {
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

  describe('a private skill', () => {
    it('is for its owner alone, in no feed, and stays so', async () => {
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

  it('has the provenance of this node, which is the first to log it', async () => {
    await apply([release('tea')])
    const record = await mirror.api().getProvenance({ name: 'tea' })
    expect(record.log).toMatchObject({ origin: 'mirror.example' })
    expect(verifyProvenance(record, { keys: await readKeys(mirror.api()) })).toMatchObject({ ok: true, unproven: [] })
  })

  it('holds its short name, unless it is said that another one does', async () => {
    await apply([release('tea', 'One.', { holder: false }), release('milk')])
    expect(await codeOf(show('tea'))).toBe('not_found')
    expect(await show('milk')).toMatchObject({ fullName: 'alice/milk' })
  })

  it('says each outcome in the transaction that brings it about', async () => {
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
