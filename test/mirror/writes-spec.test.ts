import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, expect, it } from 'vitest'
import { describeDatabases } from '../support/harness.ts'
import { endMirrors, openMirror } from '../support/mirror-harness.ts'
import { toSkillMd } from '../support/mirror-writes-acts.ts'
import { openSpecRegistry, type SpecRegistry } from '../support/spec-registry.ts'
import { send } from '../support/stand-in.ts'

afterEach(endMirrors)

interface Sent {
  name: string
  version: string
  skillMd: string
  newName: string
}

/** A registry that has only the base API, and takes skills; it keeps no answer and has errors of its own kind. */
async function openWritable(now: () => number) {
  const upstream = await openSpecRegistry(now)
  const read = upstream.answer
  const state = { isDeaf: false, refusal: undefined as [number, unknown] | undefined, written: [] as string[] }
  async function write(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { name, version, skillMd, newName } = JSON.parse((await text(request)) || '{}') as Sent
    const path = request.url!.slice('/api/v1'.length)
    const sendOne = (status: number, body: unknown) => send(body, { status })(request, response)
    if (state.refusal) return void sendOne(...state.refusal)
    const source = upstream.skills.find((one) => path === `/skills/${one.name}/fork`)
    const there = upstream.skills.find((one) => one.owner === 'alice' && one.name === (newName ?? name))
    if (there && (source || there.version === version)) return void sendOne(409, { error: 'We have that.' })
    if (path !== '/skills' && !source && !upstream.skills.some((one) => path.startsWith(`/skills/${one.name}/`)))
      return void sendOne(404, { error: 'nothing here' })
    state.written.push(`${request.method} ${path}`)
    if (source) upstream.put('alice', newName, { text: source.text.replace(source.name, newName) })
    else if (path === '/skills') put(upstream, { name, version, skillMd, newName })
    if (state.isDeaf) return void response.destroy()
    sendOne(201, {})
  }
  upstream.answer = (request, response) =>
    request.method === 'GET' ? read(request, response) : void write(request, response)
  return Object.assign(upstream, state, { state })
}

function put(upstream: SpecRegistry, { name, version, skillMd }: Sent): void {
  const there = upstream.skills.find((one) => one.name === name)
  if (there) Object.assign(there, { version, text: skillMd })
  else upstream.put('alice', name, { version, text: skillMd })
}

describeDatabases('a write for a registry that has only the base API', (open) => {
  async function openBoth() {
    const { mirror, test } = await openMirror(open, {}, { works: false, secretKey: randomBytes(32) })
    const upstream = await openWritable(() => test.clock.now())
    upstream.put('alice', 'pdf')
    await mirror.add('far', upstream.url, { kind: 'registry' })
    await mirror.sync('far')
    const ann = await test.makeUser('ann')
    await mirror.accounts.link('ann', 'far', 'key-of-alice')
    const waiting = async () =>
      (await mirror.outbox.list()).map(({ kind, state, problem }) => `${kind}: ${state} ${problem?.code}`)
    return { upstream, state: upstream.state, mirror, test, ann, waiting }
  }

  it('takes effect once, even if the response was lost and the registry stores no responses', async () => {
    const { upstream, state, mirror, ann } = await openBoth()
    await ann.api.publishSkill({ skillMd: toSkillMd('tea', 'Makes tea.'), version: '1.0.0' })
    await ann.api.publishSkill({ skillMd: toSkillMd('tea', 'More.'), version: '1.1.0' })
    await ann.api.forkSkill({ name: 'alice/pdf', newName: 'my-pdf' })
    state.isDeaf = true
    expect(await mirror.outbox.deliver()).toMatchObject({ delivered: 0, waiting: 3 })
    state.isDeaf = false
    expect(await mirror.outbox.deliver()).toEqual({ delivered: 3, waiting: 0, inConflict: 0 })
    expect(state.written.toSorted()).toEqual(['POST /skills/pdf/fork', 'PUT /skills', 'PUT /skills'])
    expect(upstream.skills.map(({ name, version }) => `${name} ${version}`).toSorted()).toEqual([
      'my-pdf 1.0.0',
      'pdf 1.0.0',
      'tea 1.1.0',
    ])
  })

  it("is in conflict if the registry has other content, reports the registry's message, and is not sent again", async () => {
    const { upstream, mirror, ann, waiting } = await openBoth()
    upstream.put('alice', 'tea', { text: toSkillMd('tea', 'Other.') })
    upstream.put('alice', 'my-pdf', { text: toSkillMd('my-pdf', 'Other.') })
    await ann.api.publishSkill({ skillMd: toSkillMd('tea', 'Makes tea.'), version: '1.0.0' })
    await ann.api.forkSkill({ name: 'alice/pdf', newName: 'my-pdf' })
    expect(await mirror.outbox.deliver()).toMatchObject({ delivered: 0, inConflict: 2 })
    expect(await waiting()).toEqual(['publish: conflict conflict', 'fork: conflict conflict'])
    expect((await mirror.outbox.list())[0]!.problem).toMatchObject({
      message: 'far returned status 409: We have that.',
    })
  })

  it('is compared by digest if the version has files besides SKILL.md', async () => {
    const { upstream, mirror, ann, waiting } = await openBoth()
    const files = [{ path: 'a.txt', content: 'A.' }]
    const skillMd = toSkillMd('tea', 'Makes tea.')
    const { skill } = await ann.api.publishSkill({ skillMd, files, version: '1.0.0' })
    upstream.put('alice', 'tea', { text: skillMd })
    expect(await mirror.outbox.deliver()).toMatchObject({ inConflict: 1 })
    expect(await waiting()).toEqual(['publish: conflict conflict'])
    const read = upstream.answer
    upstream.answer = (request, response) => {
      if (!/\/skills\/tea\b/.test(request.url!)) return read(request, response)
      const versions = [null, { version: '1.0.0', digest: skill.digest }]
      send({ fullName: 'alice/tea', latestVersion: '2.0.0', versions })(request, response)
    }
    await mirror.outbox.retry((await mirror.outbox.list())[0]!.id)
    expect(await mirror.outbox.deliver()).toEqual({ delivered: 1, waiting: 0, inConflict: 0 })
  })

  it.each([
    [400, { error: 'No such field: files' }, 'invalid_request', 'far returned status 400: No such field: files'],
    [422, 'Nope.', 'invalid_request', 'far returned status 422: the response gives no reason'],
    [405, {}, 'invalid_request', 'far returned status 405: the response gives no reason'],
    [413, { message: 'Too much' }, 'payload_too_large', 'far returned status 413: Too much'],
  ])('is in conflict, not retried forever, if it is rejected with %s', async (status, body, code, message) => {
    const { state, mirror, ann } = await openBoth()
    await ann.api.publishSkill({ skillMd: toSkillMd('tea', 'Makes tea.'), version: '1.0.0' })
    state.refusal = [status, body]
    expect(await mirror.outbox.deliver()).toMatchObject({ waiting: 0, inConflict: 1 })
    expect((await mirror.outbox.list())[0]!.problem).toMatchObject({ code, message })
  })

  it('is sent under the short name, only while that name still belongs to the same skill', async () => {
    const { upstream, state, mirror, ann, test, waiting } = await openBoth()
    await test.api().createAgentReview({ name: 'alice/pdf', agentKey: 'claude:one', rating: 4, content: 'Good.' })
    await ann.api.starSkill({ name: 'alice/pdf' })
    await ann.api.createReview({ name: 'alice/pdf', rating: 4, title: 'Good', body: 'It reads.' })
    await mirror.outbox.deliver()
    expect(state.written).toEqual(['PUT /skills/pdf/star', 'POST /skills/pdf/reviews'])
    // From now on another one answers to it.
    Object.assign(upstream.skills[0]!, { owner: 'bob' })
    await ann.api.unstarSkill({ name: 'alice/pdf' })
    await mirror.outbox.deliver()
    expect(await waiting()).toEqual(['star: conflict not_found'])
    expect(state.written).toHaveLength(2)
  })
})
