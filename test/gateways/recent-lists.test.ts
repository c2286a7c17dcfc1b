import { partsOf } from '@skillstead/core/internal'
import { expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { folder, serve } from '../support/discovery-acts.ts'
import { describeDatabases } from '../support/harness.ts'

describeDatabases('the files of an index of several skills', (open) => {
  it('are no downloads within a minute after the index was read, for the address that read it', async () => {
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
})
