import type { UpstreamStatus } from '@skillstead/mirror'
import { afterEach, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { stopElapsedTime } from '../support/elapsed-time.ts'
import { createClock, describeDatabases, startMs } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { openSpecRegistry } from '../support/spec-registry.ts'
import { sendPage } from '../support/stand-in.ts'

afterEach(endMirrors)

const dayMs = 24 * 60 * 60_000

describeDatabases('a mirror of a registry that has only the base API', (open) => {
  async function openBoth(add: Parameters<Awaited<ReturnType<typeof openMirror>>['mirror']['add']>[2] = {}) {
    const { mirror, test, errors } = await openMirror(open, {}, { secretKey: new Uint8Array(32) })
    const upstream = await openSpecRegistry(() => test.clock.now())
    await mirror.add('far', upstream.url, { kind: 'registry', ...add })
    return { mirror, test, upstream, errors }
  }

  it('imports each skill of each page, with its version, date, ids and texts', async () => {
    const { mirror, test, upstream } = await openBoth()
    for (let i = 0; i < 104; i++) upstream.put('ann', `tool-${i}`, { publishedAt: startMs - i * 1000 })
    upstream.put('bob', 'pdf', { version: '3.2.1', publishedAt: startMs - dayMs })
    const report = await mirror.sync('far')
    expect(report).toMatchObject({ applied: 105, refusedTotal: 0, unchanged: 0, removed: 0 })
    expect((await test.api().searchSkills({})).total).toBe(105)
    const pdf = await test.api().getSkill({ name: 'bob/pdf' })
    expect(pdf).toMatchObject({
      latestVersion: '3.2.1',
      publishedAt: new Date(startMs - dayMs).toISOString(),
      license: 'MIT',
      category: 'tools',
      repository: 'https://example.com/r',
      origin: { kind: 'mirror', upstream: 'far' },
    })
    expect((await test.api().getSkillMd({ name: 'bob/pdf' })).body).toBeDefined()
  })

  it('imports all skills that share a short name if the list shows their full names', async () => {
    const { mirror, test } = await openMirror(open)
    const upstream = await openUpstream(open)
    for (const username of ['ann', 'bob']) {
      const { api } = await upstream.test.makeUser(username)
      await api.publishSkill({ skillMd: skillMd('pdf') })
    }
    await mirror.add('far', upstream.url, { kind: 'registry' })
    expect(await mirror.sync('far')).toMatchObject({ applied: 2, refusedTotal: 0 })
    for (const name of ['ann/pdf', 'bob/pdf']) {
      expect((await test.api().getSkill({ name })).origin.kind).toBe('mirror')
    }
  })

  it('requests only lists, details and SKILL.md files, without an API key', async () => {
    const { mirror, upstream } = await openBoth()
    upstream.put('ann', 'one')
    await mirror.sync('far')
    expect(upstream.takeRequests().toSorted()).toEqual([
      '/skills/one',
      '/skills/one/skill.md',
      '/skills?page=1&limit=100&sort=recent',
    ])
    expect(upstream.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false)
  })

  it('sends one request if nothing is new, and reads only new versions', async () => {
    const { mirror, test, upstream } = await openBoth()
    for (let i = 0; i < 5; i++) upstream.put('ann', `tool-${i}`, { publishedAt: startMs - 1000 - i })
    await mirror.sync('far')
    upstream.takeRequests()
    expect(await mirror.sync('far')).toMatchObject({ applied: 0, requests: 1 })
    upstream.takeRequests()
    Object.assign(upstream.skills[3]!, {
      version: '1.1.0',
      publishedAt: startMs,
      text: `${upstream.skills[3]!.text}More.\n`,
    })
    expect(await mirror.sync('far')).toMatchObject({ applied: 1, unchanged: 4 })
    expect(upstream.takeRequests().filter((path) => path.startsWith('/skills/'))).toEqual([
      '/skills/tool-3/skill.md',
      '/skills/tool-3',
    ])
    const { versions } = await test.api().getSkill({ name: 'ann/tool-3' })
    expect(versions.map(({ version }) => version)).toEqual(['1.1.0', '1.0.0'])
  })

  it('applies a deprecation within a day, and never deletes unlisted skills', async () => {
    const { mirror, test, upstream } = await openBoth()
    upstream.put('ann', 'kept')
    upstream.put('ann', 'gone')
    await mirror.sync('far')
    upstream.skills.pop()
    upstream.skills[0]!.deprecated = true
    test.clock.advance(dayMs + 1)
    expect(await mirror.sync('far')).toMatchObject({ removed: 0 })
    expect(await test.api().getSkill({ name: 'ann/kept' })).toMatchObject({ deprecated: true })
    expect(await test.api().getSkill({ name: 'ann/gone' })).toMatchObject({ latestVersion: '1.0.0' })
  })

  it('continues at the page where it was stopped', async () => {
    const { mirror, test, upstream } = await openBoth()
    for (let i = 0; i < 112; i++) upstream.put('ann', `tool-${i}`, { publishedAt: startMs - i * 1000 })
    const ending = new AbortController()
    const onProgress = ({ done }: { done: number }) => void (done > 102 && ending.abort())
    await expect(mirror.sync('far', { onProgress, signal: ending.signal })).rejects.toMatchObject({
      code: 'shutting_down',
    })
    const [{ estimate }] = (await mirror.status('far')) as [UpstreamStatus]
    expect(estimate!.left).toBeGreaterThan(0)
    upstream.takeRequests()
    const report = await mirror.sync('far')
    expect((await mirror.status('far'))[0]!.estimate).toBeNull()
    expect(report.applied).toBeLessThan(30)
    expect(upstream.takeRequests()[0]).toBe('/skills?page=2&limit=100&sort=recent')
    expect((await test.api().searchSkills({})).total).toBe(112)
  })

  it('rejects invalid skills, taken names, and responses about another skill', async () => {
    const { mirror, test, upstream } = await openBoth()
    const carol = await test.makeUser('carol')
    await carol.api.publishSkill({ skillMd: '---\nname: mine\ndescription: Mine\n---\n# Mine\n', version: '1.0.0' })
    upstream.put('carol', 'mine', { version: '9.0.0' })
    upstream.put('carol', 'new')
    upstream.put('ann', 'pdf', { publishedAt: startMs - 1 })
    upstream.put('bob', 'pdf', { publishedAt: startMs - 2 })
    upstream.put('Bad Owner', 'thing')
    upstream.put('ann', 'odd', { version: '1.0' })
    upstream.put('search', 'page')
    const { refused, applied } = await mirror.sync('far')
    expect(applied).toBe(1)
    expect(Object.fromEntries(refused.map(({ subject, reason }) => [subject, reason]))).toEqual({
      'carol/mine': 'owned_locally',
      'carol/new': 'owned_locally',
      'bob/pdf@1.0.0': 'missing',
      'Bad Owner/thing': 'malformed',
      'ann/odd': 'malformed',
      'search/page': 'malformed',
    })
    expect(upstream.takeRequests().join(' ')).not.toMatch(/mine|new/)
    expect(await test.api().getSkill({ name: 'carol/mine' })).toMatchObject({ latestVersion: '1.0.0' })
  })

  it('rejects an HTML page in place of a SKILL.md or a list', async () => {
    const { mirror, test, upstream } = await openBoth()
    upstream.put('ann', 'one', { text: '<!DOCTYPE html><html><body>Sign in</body></html>' })
    expect(await mirror.sync('far')).toMatchObject({ applied: 0, refused: [{ reason: 'malformed' }] })
    await expect(test.api().getSkill({ name: 'ann/one' })).rejects.toMatchObject({ code: 'not_found' })
    upstream.answer = sendPage
    await expect(mirror.sync('far', { full: true })).rejects.toMatchObject({ code: 'upstream_failed' })
  })

  it('skips a skill that gets a new version while the mirror reads the skill', async () => {
    const { mirror, test, upstream } = await openBoth()
    const skill = upstream.put('ann', 'one')
    const { answer } = upstream
    upstream.answer = (request, response) => {
      if (request.url!.endsWith('/skill.md')) Object.assign(skill, { version: '1.0.1', text: `${skill.text}New.\n` })
      return answer(request, response)
    }
    expect(await mirror.sync('far')).toMatchObject({ applied: 0, refusedTotal: 0 })
    upstream.answer = answer
    expect(await mirror.sync('far')).toMatchObject({ applied: 1 })
    expect(await test.api().getSkill({ name: 'ann/one' })).toMatchObject({ latestVersion: '1.0.1' })
  })

  it('respects the rate limit headers, and estimates the remaining time', async () => {
    const clock = createClock()
    const pauses: number[] = []
    const sleep = async (ms: number) => {
      pauses.push(ms)
      clock.advance(ms)
    }
    const { mirror, test } = await openMirror(open, { sleep }, { clock })
    const upstream = await openSpecRegistry(() => clock.now())
    upstream.rate = 60
    for (let i = 0; i < 70; i++) upstream.put('ann', `tool-${i}`, { publishedAt: startMs - i * 1000 })
    await mirror.add('far', upstream.url, { kind: 'registry' })
    const estimates: number[] = []
    const onProgress = ({ secondsLeft }: { secondsLeft?: number }) => void estimates.push(secondsLeft ?? NaN)
    // How long a request takes is part of the estimate, and on a busy machine that is anything: here it is no time.
    stopElapsedTime()
    // Not one of them was refused, which would have had to be asked again.
    expect(await mirror.sync('far', { onProgress })).toMatchObject({ applied: 70, requests: 141 })
    expect((await test.api().searchSkills({})).total).toBe(70)
    expect(clock.now() - startMs).toBeGreaterThanOrEqual(120_000)
    expect(pauses.every((ms) => ms <= 60_000)).toBe(true)
    expect(estimates[0]).toBeGreaterThanOrEqual(120)
    expect(estimates[0]).toBeLessThan(130)
  })

  it('stops reading a list whose pages repeat', async () => {
    const { mirror, upstream } = await openBoth()
    upstream.put('ann', 'one')
    const { answer } = upstream
    upstream.answer = (request, response) => {
      if (!request.url!.includes('page=')) return answer(request, response)
      const item = {
        id: 'x',
        name: 'one',
        fullName: 'ann/one',
        latestVersion: '1.0.0',
        publishedAt: '2026-01-01T00:00:00.000Z',
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ skills: [item], total: 1e9, page: 1, totalPages: 1e9 }))
    }
    const { requests } = await mirror.sync('far')
    expect(requests).toBeLessThan(6)
  })

  it('requests no skill that the filters or private names exclude', async () => {
    const { test } = await openMirror(open)
    const { mirror } = await openMirror(open, { privateNames: ['secret-*', 'acme/*'] }, { at: test.location })
    const upstream = await openSpecRegistry(() => test.clock.now())
    for (const [owner, name] of [
      ['ann', 'pdf'],
      ['ann', 'tea'],
      ['ann', 'secret-plan'],
      ['acme', 'pdf-tool'],
    ] as const)
      upstream.put(owner, name)
    await mirror.add('far', upstream.url, { kind: 'registry', filters: { names: ['pdf*', 'secret*'] } })
    expect(await mirror.sync('far')).toMatchObject({ applied: 1, refusedTotal: 0 })
    expect(upstream.takeRequests().join(' ')).not.toMatch(/tea|secret|pdf-tool/)
  })

  it("imports private skills only with their owner's key, as private", async () => {
    const { mirror, test, upstream } = await openBoth({ apiKey: 'key-of-ann' })
    const ann = await test.makeUser('ann')
    await mirror.accounts.link('ann', 'far', 'key-of-ann')
    const bob = await test.makeUser('bob')
    upstream.put('cleo', 'shown')
    upstream.put('ann', 'diary', { isPrivate: true })
    upstream.put('bob', 'ledger', { isPrivate: true })
    expect(await mirror.sync('far')).toMatchObject({ applied: 2 })
    expect(await ann.api.getSkill({ name: 'ann/diary' })).toMatchObject({
      visibility: 'private',
      latestVersion: '1.0.0',
    })
    const nothing = { code: 'not_found' }
    await expect(test.api().getSkill({ name: 'ann/diary' })).rejects.toMatchObject(nothing)
    await expect(bob.api.getSkill({ name: 'ann/diary' })).rejects.toMatchObject(nothing)
    await expect(bob.api.getSkill({ name: 'bob/ledger' })).rejects.toMatchObject(nothing)
    expect(await test.api().getSkill({ name: 'cleo/shown' })).toMatchObject({ visibility: 'public' })
    const { entries } = await test.api().getFeed({})
    expect(JSON.stringify(entries)).not.toContain('diary')
    expect(await mirror.sync('far')).toMatchObject({ applied: 0, refusedTotal: 0 })
  })
})
