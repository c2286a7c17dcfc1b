import { afterEach, expect, it } from 'vitest'
import { serve } from '../support/discovery-acts.ts'
import { describeInTurn } from '../support/harness.ts'
import { endMirrors } from '../support/mirror-harness.ts'
import { openPair, takePaths } from '../support/mirror-reading-acts.ts'

afterEach(endMirrors)

describeInTurn('the discovery index of a mirror', (open) => {
  it('requests missing skills and their files from the upstream', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf')
    await upstream.publish('tea')
    await upstream.publish('tar')
    const installer = await serve(test)
    expect(await installer.names('/alice/pdf')).toEqual(['pdf'])
    const there = await serve(upstream.test)
    expect(await installer.index('/alice/pdf')).toEqual(await there.index('/alice/pdf'))
    expect(await installer.names('/alice/tea@1.0.0')).toEqual(['tea'])
    const file = await installer.get('/alice/.well-known/agent-skills/tar-1.0.0.md')
    expect(file.status).toBe(200)
    expect(await file.text()).toBe(await (await there.get('/alice/.well-known/agent-skills/tar-1.0.0.md')).text())
    expect(await installer.names('/alice'), 'a list is answered from here').toEqual(['pdf', 'tar', 'tea'])
    takePaths(network)
    network.fault = () => ({ cut: 0 })
    expect((await installer.download('/alice/pdf', 'pdf')).status).toBe(200)
    expect(takePaths(network)).toEqual([])
  })

  it('returns an error, not 404, if the upstream is unreachable', async () => {
    const { upstream, network, test } = await openPair(open)
    await upstream.publish('pdf')
    network.fault = () => ({ cut: 0 })
    const installer = await serve(test)
    const answer = await installer.ask('/alice/pdf')
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([502, 'upstream_failed'])
    expect((await installer.get('/alice/pdf/.well-known/agent-skills/pdf-1.0.0.md')).status).toBe(502)
  })

  it('requests no private names from the upstream', async () => {
    const { network, test } = await openPair(open, {}, { privateNames: ['acme/*'] })
    await test.makeUser('bob')
    const installer = await serve(test)
    for (const scope of [
      '/acme/pdf',
      '/bob/pdf',
      '/bob',
      '/unknown-user',
      '/packs/basics',
      '/t/guessed',
      '/bob/pdf@1.0.0',
    ])
      expect([scope, await installer.names(scope)]).toEqual([scope, 404])
    expect((await installer.get('/acme/.well-known/agent-skills/pdf-1.0.0.md')).status).toBe(404)
    await installer.get('/api/search?q=the+merger+of+acme')
    expect(takePaths(network).join(' ')).not.toMatch(/acme|bob|pdf|merger/)
  })

  it("counts a missing skill against the caller's rate limit, since it may cause an upstream request", async () => {
    const { upstream, test } = await openPair(open)
    await upstream.publish('pdf')
    const installer = await serve(test, { rates: { anonymous: 3 } })
    expect(await installer.names('/alice/pdf')).toEqual(['pdf'])
    for (let i = 0; i < 5; i += 1) expect(await installer.names('/alice/pdf'), 'what is here is free').toEqual(['pdf'])
    expect(await installer.names('/alice/one')).toBe(404)
    expect(await installer.names('/alice/two')).toBe(404)
    expect(await installer.names('/alice/three')).toBe(429)
    expect(await installer.names('/alice/pdf')).toEqual(['pdf'])
  })

  it('states the age of a response and whether it is stale, and for a version only the age', async () => {
    const { upstream, network, mirror, test } = await openPair(open, { mode: 'full', everySeconds: 0 })
    await upstream.publish('pdf')
    await mirror.sync('main')
    const installer = await serve(test)
    test.clock.advance(5000)
    network.fault = () => ({ cut: 0 })
    await mirror.sync('main').catch(() => undefined)
    const told = async (path: string) => {
      const { headers } = await installer.get(path)
      return [headers.get('age'), headers.get('x-skillstead-stale')]
    }
    expect(await told('/alice/pdf/.well-known/agent-skills/index.json')).toEqual(['5', 'true'])
    expect(await told('/alice/pdf@1.0.0/.well-known/agent-skills/index.json')).toEqual(['5', null])
    expect(await told('/alice/pdf/.well-known/agent-skills/pdf-1.0.0.md')).toEqual(['5', null])
  })
})
