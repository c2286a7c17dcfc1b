import { getEventListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { createSkillClient } from '@skillstead/client'
import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'

const reason = new Error('The caller left.')

describeDatabases('a call of the local API with an abort signal', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let api: RegistryApi
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    api = localApi(test.registry, await test.registry.getCaller('alice'))
  })

  /** Begins a write that lasts until the returned function is called: writes that follow are queued. */
  async function occupyWriter(): Promise<() => Promise<void>> {
    const [begun, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const written = partsOf(test.registry).database.writer.write(async () => {
      begun.resolve()
      await resumed.promise
    })
    await begun.promise
    return async () => {
      resumed.resolve()
      await written
    }
  }

  it('rejects with the reason of a signal that is already aborted, and changes nothing', async () => {
    const signal = AbortSignal.abort(reason)
    await expect(api.publishSkill({ skillMd: skillMd('early') }, { signal })).rejects.toBe(reason)
    await expect(api.searchSkills({}, { signal })).rejects.toBe(reason)
    await expect(api.getSkill({ name: 'alice/early' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('rejects as soon as the signal is aborted while its write is queued, and the write is dropped', async () => {
    const release = await occupyWriter()
    const leaving = new AbortController()
    const left = api.publishSkill({ skillMd: skillMd('queued') }, { signal: leaving.signal })
    const stayed = api.publishSkill({ skillMd: skillMd('stayed') }, { signal: new AbortController().signal })
    await setTimeout(100)
    leaving.abort(reason)
    await expect(left).rejects.toBe(reason)
    await release()
    expect((await stayed).created).toBe(true)
    await expect(api.getSkill({ name: 'alice/queued' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('publishes a skill completely or not at all, whenever the signal is aborted', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, async (_, i) => {
        const name = `race-${i}`
        const leaving = new AbortController()
        const published = api.publishSkill({ skillMd: skillMd(name) }, { signal: leaving.signal })
        await setTimeout(i)
        leaving.abort(reason)
        return published.then(
          () => ({ name, result: 'published' }),
          (error: unknown) => ({ name, result: error }),
        )
      }),
    )
    for (const { name, result } of outcomes) {
      const text = await api.loadSkill({ name: `alice/${name}` }).then(
        (found) => found.fullContent,
        () => 'missing',
      )
      expect(result === 'published' ? [skillMd(name)] : [skillMd(name), 'missing']).toContain(text)
      expect(['published', reason]).toContain(result)
      // A rejected publish can be repeated, whether or not it was committed.
      expect((await api.publishSkill({ skillMd: skillMd(name) })).skill.latestVersion).toBe('1.0.0')
    }
  })

  it('rejects at once if the call waits for entries of the feed', async () => {
    const { head } = await api.getFeed()
    const leaving = new AbortController()
    const waiting = api.getFeed({ since: head, wait: 30 }, { signal: leaving.signal })
    const startedMs = performance.now()
    await setTimeout(100)
    leaving.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(performance.now() - startedMs).toBeLessThan(10_000)
  })

  it('has no effect on a call that ended before the abort, and leaves no listener on the signal', async () => {
    const leaving = new AbortController()
    const { signal } = leaving
    await api.publishSkill({ skillMd: skillMd('ended') }, { signal })
    await Promise.all(Array.from({ length: 20 }, () => api.searchSkills({ q: 'ended' }, { signal })))
    await expect(api.getSkill({ name: 'alice/none' }, { signal })).rejects.toMatchObject({ code: 'not_found' })
    expect(getEventListeners(signal, 'abort')).toEqual([])
    leaving.abort(reason)
    expect((await api.getSkill({ name: 'alice/ended' })).name).toBe('ended')
  })

  it('rejects if the signal of the whole API or the signal of the single call is aborted', async () => {
    const [all, one] = [new AbortController(), new AbortController()]
    const bound = localApi(test.registry, await test.registry.getCaller('alice'), { signal: all.signal })
    expect((await bound.searchSkills({}, { signal: one.signal })).page).toBe(1)
    await expect(bound.searchSkills({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const { head } = await bound.getFeed()
    const waiting = bound.getFeed({ since: head, wait: 30 }, { signal: one.signal })
    all.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(bound.searchSkills()).rejects.toBe(reason)
  })

  it('rejects in the same way if a skill client makes the call', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('shown') })
    const client = createSkillClient({ api })
    for (const call of [
      (signal: AbortSignal) => client.load('alice/shown', { signal }),
      (signal: AbortSignal) => client.loadMany(['alice/shown'], { signal }),
      (signal: AbortSignal) => client.search('shown', { signal }),
    ]) {
      const leaving = new AbortController()
      const called = call(leaving.signal)
      leaving.abort(reason)
      await expect(called).rejects.toBe(reason)
      await expect(call(leaving.signal)).rejects.toBe(reason)
    }
  })
})
