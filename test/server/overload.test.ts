import { describe, expect, it } from 'vitest'
import { json, startNode } from '../support/server-harness.ts'
import { measureQueueDelay } from '../../packages/server/src/context/queue-delay.ts'

async function startBusyNode() {
  let delayMs = 0
  const fixture = await startNode({ queueDelayMs: () => delayMs })
  const url = fixture.node.url
  return {
    ...fixture,
    url,
    setDelay: (ms: number) => void (delayMs = ms),
    statusOf: async (path: string, init?: RequestInit) => {
      const response = await fetch(url + path, init)
      await response.arrayBuffer()
      return response.status
    },
  }
}

const search = '/api/v1/skills?q=pdf'
const similarity = '/api/v1/skills/pdf/similarity'
const diff = '/api/v1/skills/pdf/diff?from=1.0.0&to=1.0.0'

describe('a node whose requests wait too long', () => {
  it('refuses searches, comparisons, tests of policies and similar skills with 503 and Retry-After', async () => {
    const { url, key, setDelay } = await startBusyNode()
    setDelay(401)
    const signedIn = { headers: { authorization: `Bearer ${key}` } }
    for (const request of [
      new Request(url + search),
      new Request(`${url}/api/v1/search`, json({ q: 'reads files' })),
      new Request(url + similarity),
      new Request(url + diff),
      new Request(`${url}/api/v1/quarantine/any/diff`, signedIn),
      new Request(`${url}/api/v1/organisations/any/policy/test`, { method: 'POST', ...signedIn }),
      new Request(`${url}/api/search?q=pdf`),
    ]) {
      const response = await fetch(request)
      const { status, headers } = response
      const problem = (await response.json()) as { code: string; skills?: unknown }
      expect({ status, wait: headers.get('retry-after'), code: problem.code }, request.url).toEqual({
        status: 503,
        wait: '1',
        code: 'overloaded',
      })
      expect(problem).not.toHaveProperty('skills')
    }
  })

  it('still answers health checks, details, lists, files and writes', async () => {
    const { api, key, setDelay, statusOf } = await startBusyNode()
    setDelay(60_000)
    const paths = ['/healthz', '/readyz', '/openapi.json', '/api/v1/skills', '/api/v1/skills/pdf']
    for (const path of [...paths, '/api/v1/skills/pdf/skill.md']) expect(await statusOf(path), path).toBe(200)
    const headers = { authorization: `Bearer ${key}` }
    expect(await statusOf('/api/v1/skills/pdf/star', { method: 'PUT', headers })).toBe(200)
    expect((await api.searchSkills({ q: 'pdf' })).total).toBe(1)
  })

  it('counts refused requests, and answers searches again when the delay is over', async () => {
    const { url, setDelay, statusOf } = await startBusyNode()
    const readShed = async () =>
      /^skillstead_http_shed_total (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())
    setDelay(400)
    expect(await statusOf(search)).toBe(200)
    setDelay(500)
    expect([await statusOf(search), await statusOf(search)]).toEqual([503, 503])
    setDelay(0)
    expect(await statusOf(search)).toBe(200)
    expect((await readShed())?.[1]).toBe('2')
  })
})

describe('the delay of the event loop', () => {
  it('grows while other work keeps the timer from running, and is never negative', () => {
    let nowMs = 1000
    const delay = measureQueueDelay(() => nowMs)
    expect(delay.ms()).toBe(0)
    nowMs += 620
    expect(delay.ms()).toBe(600)
    nowMs += 100
    expect(delay.ms()).toBe(700)
    delay.stop()
  })
})
