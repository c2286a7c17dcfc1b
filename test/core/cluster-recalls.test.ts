import { localApi, type Registry, systemCaller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { openRegistry } from '../support/open-registry.ts'
import { makePlace, type Place } from '../support/places.ts'

/** A poll interval that never ends during a test: only notifications arrive. */
const never = 3_600_000

describe.skipIf(inject('postgresUrl') === null)('a recall on one of two nodes with one PostgreSQL', () => {
  let place: Place
  let a: Registry
  let b: Registry
  beforeAll(async () => {
    place = await makePlace('PostgreSQL')
    ;[a, b] = (await Promise.all([1, 2].map(() => openRegistry({ ...place.location, pollMs: never })))) as [
      Registry,
      Registry,
    ]
    await localApi(a, systemCaller).createUser({ username: 'ada' })
  })
  afterAll(async () => {
    await Promise.all([a?.close(), b?.close()])
    await place?.remove()
  })

  it('takes effect and ends within a second on the other node: in heartbeats, content, cached details and search', async () => {
    for (const node of [a, b]) await expect.poll(() => partsOf(node).changes.isNoticed, { interval: 20 }).toBe(true)
    const ada = localApi(a, await a.getCaller('ada'))
    for (const version of ['1.0.0', '2.0.0'])
      await ada.publishSkill({ skillMd: skillMd('heron', { body: version }), version })
    const other = localApi(b)
    const name = 'ada/heron'
    const latest = async () => (await other.getSkill({ name })).latestVersion
    // The details are cached on the other node.
    await expect.poll(latest, { interval: 5 }).toBe('2.0.0')
    const reasons = async () => {
      const { updates } = await other.heartbeat({ installedSkills: [{ skillName: name, version: '2.0.0' }] })
      return updates.map(({ reason }) => reason)
    }
    const { id } = await ada.recallSkill({ name, range: '2.x', reason: 'It harms.' })
    // Heartbeats and content are read from the database, so that nothing has to arrive.
    expect(await reasons()).toEqual(['recalled'])
    expect(await codeOf(other.getArchive({ name, version: '2.0.0' }))).toBe('recalled')
    await expect.poll(latest, { interval: 5, timeout: 1000 }).toBe('1.0.0')
    await expect
      .poll(async () => (await other.searchSkills({ q: 'heron' })).skills[0]?.latestVersion, { timeout: 1000 })
      .toBe('1.0.0')
    await ada.endRecall({ name, id })
    expect(await reasons()).toEqual([])
    await expect.poll(latest, { interval: 5, timeout: 1000 }).toBe('2.0.0')
  })
})
