import { partsOf } from '@skillstead/core/internal'
import { expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { folder, serve } from '../support/discovery-acts.ts'
import { describeDatabases } from '../support/harness.ts'

describeDatabases('the files of an index of several skills', (open, dialect) => {
  it('are not counted as downloads within a minute after the same IP address read the index', async () => {
    const test = await open()
    const { api } = await test.makeUser('alice')
    for (const name of ['one', 'two']) await api.publishSkill({ skillMd: skillMd(name) })
    const installer = await serve(test)
    const file = `/alice${folder}/one-1.0.0.md`
    const downloads = async () => {
      await partsOf(test.registry).counters.flush()
      return (await test.api().getSkill({ name: 'alice/one' })).downloads
    }
    expect(await installer.names('/alice')).toEqual(['one', 'two'])
    expect((await installer.get(file)).status).toBe(200)
    expect(await downloads()).toBe(0)
    expect((await installer.get(`/alice/one${folder}/one-1.0.0.md`)).status).toBe(200)
    expect(await downloads(), 'by the index of one skill').toBe(1)
    test.clock.advance(60_000)
    expect((await installer.get(`/alice${folder}/two-1.0.0.md`)).status).toBe(200)
    await partsOf(test.registry).counters.flush()
    expect((await test.api().getSkill({ name: 'alice/two' })).downloads).toBe(1)
  })

  it('are counted as downloads if the clock was set back after a client read the index', async () => {
    const test = await open()
    const { api } = await test.makeUser('alice')
    for (const name of ['one', 'two']) await api.publishSkill({ skillMd: skillMd(name) })
    const installer = await serve(test)
    await installer.names('/alice')
    test.clock.advance(-365 * 24 * 3_600_000)
    expect((await installer.get(`/alice${folder}/one-1.0.0.md`)).status).toBe(200)
    await partsOf(test.registry).counters.flush()
    expect((await test.api().getSkill({ name: 'alice/one' })).downloads).toBe(1)
  })

  it.skipIf(dialect === 'SQLite')('are not counted as downloads if another node sent the index', async () => {
    const first = await open()
    const { api } = await first.makeUser('alice')
    for (const name of ['one', 'two']) await api.publishSkill({ skillMd: skillMd(name) })
    const second = await open({ at: first.location, clock: first.clock })
    const installers = await Promise.all([first, second].map((test) => serve(test)))
    const [one, two] = [installers[0]!, installers[1]!]
    const downloads = async (name: string) => {
      for (const { registry } of [first, second]) await partsOf(registry).counters.flush()
      // The second node counts them; the first one learns it later.
      return (await second.api().getSkill({ name: `alice/${name}` })).downloads
    }
    const files = ['one', 'two'].map((name) => `/alice${folder}/${name}-1.0.0.md`)
    // A file that is read before the list does not hide the list.
    expect((await two.get(files[0]!)).status).toBe(200)
    expect(await downloads('one')).toBe(1)
    expect(await one.names('/alice')).toEqual(['one', 'two'])
    first.clock.advance(29_000)
    expect((await two.get(files[1]!)).status).toBe(200)
    expect(await downloads('two')).toBe(0)
    first.clock.advance(60_000)
    expect((await two.get(files[1]!)).status).toBe(200)
    expect(await downloads('two')).toBe(1)
  })
})
