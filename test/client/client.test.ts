import { createHash } from 'node:crypto'
import { RegistryError, createClient } from '@skillstead/client'
import { describe, expect, it } from 'vitest'
import { openStandIn, send, sendPage, sendProblem } from '../support/stand-in.ts'

const found = { skills: [], total: 0, page: 1, totalPages: 0, filters: { q: '' } }

/** The error of a call that must fail with a RegistryError. */
async function failureOf(call: Promise<unknown>): Promise<RegistryError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(RegistryError)
  return error as RegistryError
}

function countFetches() {
  let count = 0
  const counted: typeof fetch = (...input) => {
    count += 1
    return fetch(...input)
  }
  return { counted, count: () => count }
}

describe('an API client of a failing node', () => {
  it('reports an unreachable node after three attempts', async () => {
    const standIn = await openStandIn()
    await standIn.close()
    const { counted, count } = countFetches()
    const error = await failureOf(createClient({ baseUrl: standIn.url, fetch: counted }).searchSkills())
    expect(error).toMatchObject({ code: 'upstream_failed', message: `No registry responds at ${standIn.url}.` })
    expect(count()).toBe(3)
  })

  it('retries reads after temporary errors, and never retries writes', async () => {
    for (const [status, code] of [
      [503, 'overloaded'],
      [503, 'shutting_down'],
      [502, 'upstream_failed'],
      [504, 'upstream_timeout'],
      [429, 'rate_limited'],
    ] as const) {
      const standIn = await openStandIn((...message) => {
        const answer = standIn.requests.length < 2 ? sendProblem(status, code, { 'retry-after': '0' }) : send(found)
        answer(...message)
      })
      const api = createClient({ baseUrl: standIn.url })
      expect(await api.searchSkills({ q: 'pdf' })).toEqual(found)
      expect(standIn.requests.map(({ path }) => path)).toEqual(Array(2).fill('/api/v1/skills?q=pdf'))
      standIn.requests.length = 0
      expect(await api.searchByNeed({ q: 'pdf' })).toEqual(found)
      expect(standIn.requests.map(({ path }) => path)).toEqual(Array(2).fill('/api/v1/search'))
      standIn.answer = sendProblem(status, code, { 'retry-after': '0' })
      for (const write of [
        () => api.createRequest({ title: 'A', description: 'B' }),
        () => api.starSkill({ name: 'alice/pdf' }),
      ]) {
        standIn.requests.length = 0
        expect((await failureOf(write())).code).toBe(code)
        expect(standIn.requests).toHaveLength(1)
      }
    }
  })

  it('does not retry permanent errors', async () => {
    for (const [status, code] of [
      [400, 'invalid_request'],
      [401, 'unauthorized'],
      [404, 'not_found'],
      [451, 'taken_down'],
      [500, 'internal'],
      [501, 'not_implemented'],
      [503, 'offline'],
    ] as const) {
      const standIn = await openStandIn(sendProblem(status, code))
      const error = await failureOf(createClient({ baseUrl: standIn.url }).getSkill({ name: 'alice/pdf' }))
      expect(error).toMatchObject({ code, status, message: `It is ${code}.`, requestId: 'r1' })
      expect(standIn.requests).toHaveLength(1)
    }
  })

  it('waits for the time in Retry-After before a retry, and fails at once if that time is too long', async () => {
    const times: number[] = []
    const standIn = await openStandIn((...message) => {
      times.push(performance.now())
      const answer = times.length === 1 ? sendProblem(429, 'rate_limited', { 'retry-after': '1' }) : send(found)
      answer(...message)
    })
    const api = createClient({ baseUrl: standIn.url })
    await api.searchSkills()
    // This is no speed limit: the elapsed time shows that the client waited.
    expect(times[1]! - times[0]!).toBeGreaterThan(950)
    standIn.answer = sendProblem(429, 'rate_limited', { 'retry-after': '3600' })
    expect((await failureOf(api.searchSkills())).retryAfterSeconds).toBe(3600)
    expect(times).toHaveLength(2)
  })

  it('measures a date in Retry-After by the clock of the server, not by its own clock', async () => {
    const standIn = await openStandIn((_, response) => {
      response.setHeader('date', 'Wed, 01 Jan 2020 00:00:00 GMT')
      response.writeHead(503, { 'retry-after': 'Wed, 01 Jan 2020 00:10:00 GMT' }).end()
    })
    const error = await failureOf(createClient({ baseUrl: standIn.url }).searchSkills())
    expect(error).toMatchObject({ code: 'overloaded', retryAfterSeconds: 600 })
  })

  it('times out if the response does not start in time, or does not end in time', async () => {
    const standIn = await openStandIn(() => {})
    const { counted, count } = countFetches()
    const api = createClient({ baseUrl: standIn.url, timeoutMs: 40, retries: 1, fetch: counted })
    expect(await failureOf(api.searchSkills())).toMatchObject({
      code: 'upstream_timeout',
      message: `${standIn.url} did not respond within 0.04 s.`,
    })
    expect(count()).toBe(2)
    standIn.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"skills":')
    }
    expect((await failureOf(api.searchSkills())).code).toBe('upstream_timeout')
  })

  it('times out even if the given fetch ignores abort signals', async () => {
    const api = createClient({
      baseUrl: 'http://localhost',
      timeoutMs: 5,
      retries: 0,
      fetch: () => new Promise(() => {}),
    })
    expect((await failureOf(api.searchSkills())).code).toBe('upstream_timeout')
  })

  it('rejects the HTML sign-in page of a captive portal', async () => {
    const standIn = await openStandIn(sendPage)
    const api = createClient({ baseUrl: standIn.url })
    for (const call of [
      () => api.searchSkills(),
      () => api.getSkillMd({ name: 'alice/pdf' }),
      () => api.getArchive({ name: 'alice/pdf' }),
    ]) {
      const error = await failureOf(call())
      expect(error.code).toBe('upstream_failed')
      expect(error.message).toMatch(
        /^http:\/\/127\.0\.0\.1:\d+ returned text\/html where .+ whether this network requires a sign-in\.$/,
      )
    }
    expect(standIn.requests).toHaveLength(3)
  })

  it('rejects truncated, too deeply nested or invalid JSON', async () => {
    const standIn = await openStandIn(send('{"skills": [{"na'))
    const api = createClient({ baseUrl: standIn.url })
    const unparsed = 'sent invalid JSON'
    for (const [body, words] of [
      ['{"skills": [{"na', unparsed],
      ['['.repeat(100_000), 'sent JSON that exceeds a limit: The JSON nests deeper than 128 levels.'],
      ['Hello', unparsed],
      ['', unparsed],
    ] as const) {
      standIn.answer = send(body)
      const error = await failureOf(api.searchSkills())
      expect(error).toMatchObject({
        code: 'upstream_failed',
        message: expect.stringContaining(words),
      })
    }
    standIn.requests.length = 0
    standIn.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' }).write('{"skills"')
      setImmediate(() => response.destroy())
    }
    expect((await failureOf(api.searchSkills())).message).toBe(`The response of ${standIn.url} was cut off.`)
    expect(standIn.requests, 'a line that broke may hold the next time').toHaveLength(3)
  })

  it('sends no key, token or body when a redirect leads to another origin', async () => {
    const elsewhere = await openStandIn(send(found))
    const { url: baseUrl } = await openStandIn(({ url }, response) => {
      response.writeHead(308, { location: elsewhere.url + url }).end()
    })
    const message = `${baseUrl} redirects to ${elsewhere.url}, where no key, token or body is sent. Pass that address instead.`
    for (const secret of [{ apiKey: 'ssk_1' }, { agentToken: 't' }, { caseToken: 't' }, { shareToken: 't' }]) {
      const api = createClient({ baseUrl, retries: 0, ...secret })
      for (const call of [() => api.searchSkills(), () => api.publishSkill({ skillMd: 'x' })])
        expect(await failureOf(call())).toMatchObject({ code: 'upstream_failed', message })
    }
    const guest = createClient({ baseUrl, retries: 0 })
    expect(await failureOf(guest.publishSkill({ skillMd: 'x' }))).toMatchObject({ code: 'upstream_failed', message })
    expect(elsewhere.requests).toEqual([])
    expect(await guest.searchSkills(), 'who has none is not held up').toEqual(found)
  })

  it('follows redirects within the origin with the same token and method, and detects redirect loops', async () => {
    const standIn = await openStandIn((request, response) => {
      if (request.url === '/moved') return send(found)(request, response)
      response.writeHead(request.method === 'GET' ? 301 : 307, { location: '/moved' }).end()
    })
    const api = createClient({ baseUrl: standIn.url, agentToken: 't', retries: 0 })
    await api.searchSkills()
    await api.publishSkill({ skillMd: 'x' })
    const seen = standIn.requests.map(({ method, path, headers }) => `${method} ${path} ${headers['x-agent-token']}`)
    expect(seen).toEqual(['GET /api/v1/skills t', 'GET /moved t', 'PUT /api/v1/skills t', 'PUT /moved t'])
    standIn.answer = (_, response) => void response.writeHead(308, { location: '/again' }).end()
    expect((await failureOf(api.searchSkills())).message).toBe(
      `${standIn.url} redirects in a loop. Check the URL of the registry.`,
    )
  })

  it('derives the error from the HTTP status if the error response has no body', async () => {
    const codes = {
      401: 'unauthorized',
      403: 'forbidden',
      404: 'not_found',
      410: 'not_found',
      451: 'taken_down',
      418: 'upstream_failed',
      302: 'upstream_failed',
    }
    const standIn = await openStandIn()
    for (const [status, code] of Object.entries(codes)) {
      standIn.answer = (_, response) => void response.writeHead(Number(status)).end('<h1>nginx</h1>')
      const error = await failureOf(createClient({ baseUrl: standIn.url, retries: 0 }).searchSkills())
      expect(error.code).toBe(code)
      expect(error.message).toBe(`The server returned ${status} without a reason. Is this the URL of a registry?`)
    }
  })

  it('rejects a downloaded file whose bytes do not match the digest', async () => {
    const digest = `sha256:${createHash('sha256').update('honest').digest('hex')}`
    const standIn = await openStandIn((_, response) => response.writeHead(200, { etag: `"${digest}"` }).end('changed'))
    const api = createClient({ baseUrl: standIn.url })
    const calls = [() => api.getSkillMd({ name: 'alice/pdf' }), () => api.getFile({ name: 'alice/pdf', path: 'a.sh' })]
    for (const call of [...calls, () => api.getBlob({ digest })]) {
      const error = await failureOf(call())
      expect(error).toMatchObject({ code: 'upstream_failed', message: expect.stringContaining(digest) })
    }
    standIn.answer = (_, response) => void response.writeHead(200).end('changed')
    expect((await failureOf(api.getBlob({ digest }))).code, 'the digest that was asked for').toBe('upstream_failed')
    standIn.answer = (_, response) => void response.writeHead(200, { etag: `"${digest}"` }).end('honest')
    expect((await api.getBlob({ digest })).body).toEqual(new Uint8Array(Buffer.from('honest')))
  })
})

describe('an API client', () => {
  it.each(['client', 'call'])('ends calls with the reason of an aborted signal of the %s', async (owner) => {
    const ending = new AbortController()
    const { signal } = ending
    const standIn = await openStandIn(() => ending.abort(new Error('Enough.')))
    const api = createClient({ baseUrl: standIn.url, ...(owner === 'client' && { signal }) })
    const options = { signal: owner === 'call' ? signal : new AbortController().signal }
    await expect(api.searchSkills({}, options)).rejects.toThrow('Enough.')
    await expect(api.searchSkills({}, options)).rejects.toThrow('Enough.')
    expect(standIn.requests).toHaveLength(1)
  })

  it('rejects an invalid base URL when the client is created, without the credentials of the URL in the error', () => {
    for (const baseUrl of ['', 'localhost:7545', 'nonsense', 'ftp://localhost', 'http://alice:secret@localhost']) {
      expect(() => createClient({ baseUrl })).toThrow(TypeError)
      expect(() => createClient({ baseUrl })).not.toThrow(/secret/)
    }
  })

  it('rejects an API key with characters that a header cannot contain, without the key in the error', async () => {
    const standIn = await openStandIn()
    for (const apiKey of ['ssk_secret\nx-admin: 1', 'ssk_se cret', 'ssk_ключ']) {
      const error = await failureOf(createClient({ baseUrl: standIn.url, apiKey }).searchSkills())
      expect(error.code).toBe('unauthorized')
      expect(JSON.stringify([error.message, error.cause ?? null])).not.toContain('ssk_')
    }
    expect(standIn.requests).toEqual([])
  })

  it('sends no header for a secret that is only white space', async () => {
    const standIn = await openStandIn(send(found))
    await createClient({ baseUrl: standIn.url, apiKey: ' \n', shareToken: '\t' }).searchSkills()
    expect(standIn.requests).toHaveLength(1)
    expect(standIn.requests[0]!.headers).not.toHaveProperty('authorization')
    expect(standIn.requests[0]!.headers).not.toHaveProperty('x-share-token')
  })

  it('sends no request for a name with dot segments, which would address another resource', async () => {
    const standIn = await openStandIn()
    const api = createClient({ baseUrl: standIn.url })
    for (const name of ['', '.', '..', '\ud800'])
      expect((await failureOf(api.getSkill({ name }))).code).toBe('not_found')
    expect((await failureOf(api.getFile({ name: 'alice/pdf', path: 'a/../../b' }))).code).toBe('not_found')
    expect(standIn.requests).toEqual([])
  })

  it('sends its client name, and marks update checks, which do not count as downloads', async () => {
    const standIn = await openStandIn(send(found))
    await createClient({
      baseUrl: `${standIn.url}/api/v1/`,
      apiKey: 'ssk_1',
      client: 'agent',
      counts: false,
    }).searchSkills()
    await createClient({ baseUrl: `${standIn.url}/` }).searchSkills()
    const [named, plain] = standIn.requests
    expect(named).toMatchObject({
      path: '/api/v1/skills',
      headers: { authorization: 'Bearer ssk_1', 'x-skillstead-client': 'agent', 'x-skills-update-check': '1' },
    })
    expect(plain!.path).toBe('/api/v1/skills')
    for (const name of [
      'authorization',
      'x-skillstead-client',
      'x-skills-update-check',
      'x-share-token',
      'if-none-match',
    ]) {
      expect(plain!.headers).not.toHaveProperty(name)
    }
  })
})
