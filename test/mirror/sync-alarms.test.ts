import { partsOf, rotateKey } from '@skillstead/core/internal'
import { afterEach, expect, it } from 'vitest'
import { describeInTurn } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { hookUp } from '../support/webhook-emitted.ts'

afterEach(endMirrors)

const dayMs = 24 * 60 * 60 * 1000

describeInTurn('the pause of a sync', (open) => {
  async function openLarge(skills: number) {
    const upstream = await openUpstream(open)
    for (let i = 0; i < skills; i += 1) await upstream.publish(`skill-${i}`)
    const followed = await openMirror(open)
    await followed.mirror.add('main', upstream.url)
    await followed.mirror.sync('main')
    return { upstream, ...followed }
  }

  it('happens before the sync hides many skills', async () => {
    const { upstream, mirror, test, alarms } = await openLarge(8)
    const { api } = upstream.alice
    for (let i = 0; i < 3; i += 1) await api.deleteSkill({ name: `alice/skill-${i}` })
    for (let i = 3; i < 6; i += 1) await api.yankVersion({ name: `alice/skill-${i}`, version: '1.0.0' })
    await expect(mirror.sync('main')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/mass_removal.*hide 6 skills.*--accept mass_removal/),
    })
    expect(alarms).toEqual(['main: mass_removal'])
    expect((await test.api().searchSkills({})).total).toBe(8)
    await expect(mirror.sync('main'), 'it stands still').rejects.toMatchObject({ code: 'conflict' })
    expect(alarms, 'and is told once').toHaveLength(1)
    expect(await mirror.status('main')).toMatchObject([{ state: 'stopped', nextAt: null, applied: 8, verified: 14 }])
    expect(await mirror.sync('main', { allowRemovals: true })).toMatchObject({ applied: 6, removed: 6 })
    expect((await test.api().searchSkills({})).total).toBe(2)
    expect(await mirror.status('main')).toMatchObject([{ state: 'current', alarm: null }])
  })

  it('does not happen for a few removals, or for removed skills that later entries restore', async () => {
    const { upstream, mirror, alarms } = await openLarge(8)
    const { api } = upstream.alice
    for (let i = 0; i < 5; i += 1) await api.deleteSkill({ name: `alice/skill-${i}` })
    expect(await mirror.sync('main')).toMatchObject({ removed: 5 })
    for (let i = 5; i < 8; i += 1) {
      await api.publishSkill({ name: `skill-${i}`, visibility: 'private' })
      await api.publishSkill({ name: `skill-${i}`, visibility: 'public' })
    }
    await mirror.sync('main')
    expect(alarms).toEqual([])
  })

  it('is sent to the webhooks of administrators only', async () => {
    const { upstream, mirror, test } = await openLarge(6)
    const operator = await test.makeUser('operator', { plan: 'pro', role: 'admin' })
    const bob = await test.makeUser('bob', { plan: 'pro' })
    const [told, untold] = [await hookUp(test, operator), await hookUp(test, bob)]
    for (let i = 0; i < 6; i += 1) await upstream.alice.api.deleteSkill({ name: `alice/skill-${i}` })
    await expect(mirror.sync('main')).rejects.toMatchObject({ code: 'conflict' })
    expect(await told.take()).toEqual([
      {
        event: 'mirror.alarm',
        data: {
          upstream: { name: 'main', location: upstream.url },
          alarm: { code: 'mass_removal', message: expect.stringContaining('hide 6 skills') },
        },
      },
    ])
    expect(await untold.take()).toEqual([])
  })

  it('is shown in the metrics', async () => {
    const { upstream, mirror, test } = await openLarge(6)
    const readAlarm = async () => {
      const metrics = await test.registry.metrics()
      return metrics
        .filter(({ name }) => name === 'skillstead_mirror_alarm')
        .map(({ labels, value }) => ({ ...labels, value }))
    }
    expect(await readAlarm()).toEqual([{ upstream: 'main', code: 'none', value: 0 }])
    for (let i = 0; i < 6; i += 1) await upstream.alice.api.deleteSkill({ name: `alice/skill-${i}` })
    await mirror.sync('main').catch(() => undefined)
    expect(await readAlarm()).toEqual([{ upstream: 'main', code: 'mass_removal', value: 1 }])
  })

  it('happens for a new key that no trusted key endorsed, and lasts until the operator accepts the key', async () => {
    const { upstream, mirror, test, alarms } = await openLarge(1)
    await rotateKey(partsOf(upstream.test.registry), { overlapMs: 0 })
    await upstream.publish('tea')
    await expect(mirror.sync('main')).rejects.toMatchObject({ code: 'conflict' })
    expect(alarms).toEqual(['main: key'])
    await expect(mirror.sync('main', { accept: 'fork' })).rejects.toMatchObject({ code: 'conflict' })
    expect(await mirror.sync('main', { accept: 'key' })).toMatchObject({ applied: 1 })
    expect(await test.api().getSkill({ name: 'alice/tea' })).toMatchObject({ latestVersion: '1.0.0' })
  })

  it('begins if the log is no longer signed', async () => {
    const { upstream, mirror, test, alarms } = await openLarge(1)
    await mirror.sync('main')
    test.clock.advance(dayMs + 60_000)
    await expect(mirror.sync('main')).rejects.toMatchObject({ message: expect.stringContaining('freeze') })
    expect(alarms).toEqual(['main: freeze'])
    upstream.test.clock.advance(dayMs)
    expect(await mirror.sync('main', { accept: 'freeze' })).toMatchObject({ applied: 0 })
    expect(await mirror.status('main')).toMatchObject([{ state: 'current', freezeChecked: true }])
  })

  it('happens at the first sync if the log is not signed by the pinned key', async () => {
    const [upstream, other] = [await openUpstream(open), await openUpstream(open)]
    await upstream.publish('pdf')
    const { mirror, alarms } = await openMirror(open)
    const key = await fetch(`${other.url}/api/v1/key`).then((response) => response.text())
    await mirror.add('main', upstream.url, { key: key.trim() })
    await expect(mirror.sync('main')).rejects.toMatchObject({ message: expect.stringContaining('(key)') })
    expect(alarms).toEqual(['main: key'])
    expect(await mirror.status('main')).toMatchObject([{ staged: 0, verified: 0, skills: 0 }])
  })
})
