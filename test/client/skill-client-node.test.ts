import { partsOf } from '@skillstead/core/internal'
import { createClient, createSkillClient } from '@skillstead/client'
import { describe, expect, it } from 'vitest'
import { createClock } from '../support/harness.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

const hourMs = 3_600_000

/** A fetch that records the statuses of its responses. */
function watchFetch() {
  const statuses: number[] = []
  const watched: typeof fetch = async (...input) => {
    const response = await fetch(...input)
    statuses.push(response.status)
    return response
  }
  return { statuses, watched }
}

describe('a skill client of a node', () => {
  it('revalidates a cached skill, and the node counts no second download', async () => {
    const { node, registry, api } = await startNode()
    const { statuses, watched } = watchFetch()
    const clock = createClock()
    const client = createSkillClient({ baseUrl: node.url, fetch: watched, now: clock.now })
    const first = await client.load('alice/pdf')
    expect(first.fullContent).toBe(skillMd)
    clock.advance(hourMs)
    await partsOf(registry).counters.flush()
    expect(await client.load('alice/pdf')).toEqual(first)
    expect(statuses).toEqual([200, 304])
    await partsOf(registry).counters.flush()
    expect((await api.getSkill({ name: 'alice/pdf' })).downloads).toBe(1)
    await api.publishSkill({ skillMd: `${skillMd}\nAll of them.\n`, version: '1.1.0' })
    clock.advance(hourMs)
    expect((await client.load('alice/pdf')).metadata.version).toBe('1.1.0')
    expect(statuses).toEqual([200, 304, 200])
  })

  it('loads a private skill only with the API key of its owner, and other clients cannot load the skill', async () => {
    const { node, key, api, createUser } = await startNode()
    await api.publishSkill({ skillMd: skillMd.replace('name: pdf', 'name: diary'), visibility: 'private' })
    const owner = createSkillClient({ baseUrl: node.url, apiKey: key })
    const stranger = createSkillClient({ baseUrl: node.url, apiKey: await createUser('bob') })
    const guest = createSkillClient({ baseUrl: `${node.url}/api/v1` })
    expect((await owner.load('alice/diary')).metadata.name).toBe('alice/diary')
    for (const client of [stranger, guest]) {
      await expect(client.load('alice/diary')).rejects.toMatchObject({ code: 'not_found' })
      expect((await client.search('diary')).total).toBe(0)
    }
    const wrong = createSkillClient({ baseUrl: node.url, apiKey: 'ssk_wrong' })
    await expect(wrong.load('alice/pdf')).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('finds a skill under its new owner after a transfer', async () => {
    const { node, api, createUser } = await startNode()
    const bob = createClient({ baseUrl: node.url, apiKey: await createUser('bob') })
    await api.transferSkill({ name: 'alice/pdf', newOwner: 'bob' })
    await bob.acceptTransfer({ name: 'alice/pdf' })
    const { metadata } = await createSkillClient({ baseUrl: node.url }).load('alice/pdf', { level: 'metadata' })
    expect(metadata.fullName).toBe('bob/pdf')
  })

  it('removes a skill from its cache after an administrator hides it', async () => {
    const { node, api } = await startNode()
    const clock = createClock()
    const client = createSkillClient({ baseUrl: node.url, now: clock.now })
    await client.load('alice/pdf', { level: 'summary' })
    await api.moderateSkill({ name: 'alice/pdf', state: 'hidden', reason: 'It is copied.' })
    clock.advance(hourMs)
    await expect(client.load('alice/pdf', { level: 'summary' })).rejects.toMatchObject({ code: 'not_found' })
  })
})
