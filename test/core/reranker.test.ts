import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { partsOf } from '@skillstead/core/internal'
import type { SearchResult } from '@skillstead/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { sweepEmbeddings } from '../../packages/core/src/search/embeddings-reranker.ts'
import { skillMd } from '../support/answers.ts'
import { describeDatabases, type Open, type TestRegistry } from '../support/harness.ts'

interface Asked {
  readonly authorization: string | undefined
  readonly model: string
  readonly input: string[]
}

type Answer = (asked: Asked, response: ServerResponse) => void | Promise<void>

const names = (result: SearchResult) => result.skills.map(({ name }) => name)

/** A text is near another one if both are about money, or both are not. */
const toVector = (input: string) => (/refund|money|invoice/i.test(input) ? [1, 0.1] : [0.1, 1])

const answerAll: Answer = ({ input }, response) => {
  const data = input.map((one, index) => ({ index, object: 'embedding', embedding: toVector(one) }))
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: data.toReversed() }))
}

const badAnswers: readonly (readonly [what: string, answer: Answer])[] = [
  ['a status that asks to wait', (_, response) => void response.writeHead(429).end()],
  ['a refusal of the key', (_, response) => void response.writeHead(401).end('{"error":"secret-key"}')],
  ['a redirect', (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()],
  ['text that is not JSON', (_, response) => void response.end('<html>')],
  ['too few vectors', (_, response) => void response.end('{"data":[{"index":5,"embedding":[1]}]}')],
  [
    'vectors that are not numbers',
    ({ input }, response) => {
      response.end(JSON.stringify({ data: input.map((_, index) => ({ index, embedding: [null, 'x'] })) }))
    },
  ],
  [
    'vectors of different lengths',
    ({ input }, response) => {
      response.end(JSON.stringify({ data: input.map((_, index) => ({ index, embedding: Array(index + 1).fill(1) })) }))
    },
  ],
  ['a body of 40 MiB', (_, response) => void response.end('x'.repeat(40 * 1024 * 1024))],
  ['a broken connection', (_, response) => void response.destroy()],
]

/** A local embeddings service. */
async function startService(answer: Answer = answerAll) {
  const asked: Asked[] = []
  const service = { asked, answer, url: '' }
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { model, input } = JSON.parse(await text(request)) as Asked
    asked.push({ authorization: request.headers.authorization, model, input })
    await service.answer(asked.at(-1)!, response)
  }
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`
  return service
}

const need = 'what to do about the wrong order of a shop: I would like my money back'
const byWords = ['orders', 'greeting', 'refunds']

/** Three skills that the words of the need fit alike. */
async function fill(test: TestRegistry): Promise<void> {
  const { api } = await test.makeUser('alice')
  const publish = (name: string, description: string) =>
    api.publishSkill({ skillMd: skillMd(name, { description, body: 'Text.\n' }) })
  await publish('orders', 'Searches for the wrong order of a shop.')
  await publish('refunds', 'Refunds for the wrong order of a shop.')
  await publish('greeting', 'Greets after the wrong order of a shop.')
}

describeDatabases('a reranker with an embedding service', (open: Open) => {
  async function start(service: { url: string }, more: { key?: string; timeoutMs?: number } = {}) {
    const errors: unknown[] = []
    const embeddings = { url: service.url, model: 'small', timeoutMs: 5000, ...more }
    const test = await open({ embeddings, onError: (error) => errors.push(error) })
    await fill(test)
    await partsOf(test.registry).search.warmed
    return { test, errors, search: async (q = need) => names(await test.api().searchSkills({ q })) }
  }

  it('orders the hits by similarity, and asks for each text and query once', async () => {
    const service = await startService()
    const { test, search } = await start(service, { key: 'secret-key' })
    expect((await search())[0]).toBe('refunds')
    expect(service.asked.map(({ input }) => input.length).toSorted()).toEqual([1, 3])
    for (const { authorization, model } of service.asked) {
      expect({ authorization, model }).toEqual({ authorization: 'Bearer secret-key', model: 'small' })
    }
    expect((await search())[0]).toBe('refunds')
    expect(service.asked).toHaveLength(2)
    const again = await open({ at: test.location, embeddings: { url: service.url, model: 'small', timeoutMs: 5000 } })
    expect(names(await again.api().searchSkills({ q: need }))[0]).toBe('refunds')
    expect(service.asked.slice(2).map(({ input }) => input)).toEqual([[need]])
  })

  it('shows every hit once on pages of any size, with the same matches as one page', async () => {
    const { test } = await start(await startService())
    const all = await test.api().searchSkills({ q: need, explain: true })
    const paged = []
    for (const page of [1, 2, 3]) {
      paged.push(...(await test.api().searchSkills({ q: need, explain: true, page, limit: 1 })).skills)
    }
    expect(paged.map(({ name, match }) => ({ name, match }))).toEqual(
      all.skills.map(({ name, match }) => ({ name, match })),
    )
    expect(all.total).toBe(3)
  })

  it('sends the service neither texts of private skills nor searches that name a skill, are sorted or empty', async () => {
    const service = await startService()
    const { test } = await start(service)
    const bob = await test.makeUser('bob')
    const description = 'Secret: refunds the wrong order of a shop.'
    await bob.api.publishSkill({ skillMd: skillMd('hidden', { description }), visibility: 'private' })
    expect(names(await bob.api.searchSkills({ q: need }))).toContain('bob/hidden')
    expect(JSON.stringify(service.asked)).not.toContain('Secret')
    const before = service.asked.length
    expect(names(await test.api().searchSkills({ q: 'greeting' }))[0]).toBe('greeting')
    await test.api().searchSkills({ q: need, sort: 'recent' })
    await test.api().searchSkills({})
    expect(service.asked).toHaveLength(before)
  })

  it('keeps the order by words after any invalid response, and pauses after three failures', async () => {
    const service = await startService()
    const { test, errors, search } = await start(service, { key: 'secret-key' })
    for (const [what, answer] of badAnswers) {
      service.answer = answer
      for (const i of [1, 2, 3]) expect(await search(`${need} ${i}, ${what}`), what).toEqual(byWords)
      service.answer = answerAll
      expect(await search(`${need}, paused, ${what}`), what).toEqual(byWords)
      expect(service.asked.flatMap(({ input }) => input).join('\n')).not.toContain('paused')
      test.clock.advance(60_000)
    }
    const messages = (errors as Error[]).map(({ message }) => message)
    expect(messages.filter((message) => message === 'The second stage of a search failed.')).toHaveLength(
      badAnswers.length,
    )
    expect(messages.filter((message) => message.includes('pauses for a minute'))).toHaveLength(badAnswers.length)
    for (const error of errors as Error[]) {
      expect(`${error.message} ${String(error.cause)}`).not.toContain('secret-key')
    }
    expect((await search())[0]).toBe('refunds')
  })

  it('keeps the order by words if the service is late, and uses its answer in later searches', async () => {
    const released = Promise.withResolvers<void>()
    const service = await startService(async (asked, response) => {
      await released.promise
      await answerAll(asked, response)
    })
    const { test, search } = await start(service, { timeoutMs: 30 })
    expect(await search()).toEqual(byWords)
    released.resolve()
    await expect
      .poll(async () => {
        test.clock.advance(60_000)
        return (await search())[0]
      })
      .toBe('refunds')
  })
})

describeDatabases('stored embeddings', (open: Open) => {
  it('are deleted after their retention time, the oldest first if there are too many', async () => {
    const { registry } = await open()
    const { database } = partsOf(registry)
    await database.writer.write(async (trx) => {
      for (const stored_at of [1, 2, 3, 4, 5]) {
        const row = { model: 'small', digest: `${stored_at}`, vector: new Uint8Array(4), stored_at }
        await trx.insertInto('embeddings').values(row).execute()
      }
    })
    const read = async () =>
      (await database.read.selectFrom('embeddings').select('digest').execute()).map(({ digest }) => digest).toSorted()
    await sweepEmbeddings(database, { before: 2, rowsMax: 5 })
    expect(await read()).toEqual(['2', '3', '4', '5'])
    await sweepEmbeddings(database, { before: 2, rowsMax: 3 })
    expect(await read()).toEqual(['3', '4', '5'])
  })
})

async function preferGreeting(texts: readonly { text: string }[]): Promise<number[]> {
  return texts.map(({ text: one }) => Number(one.includes('Greets')))
}

describeDatabases('a reranker that the program passes to openRegistry', (open: Open) => {
  it('does not change the order between the pages of a search, and reports the first failure and a pause once', async () => {
    let isDown = true
    const errors: unknown[] = []
    const test = await open({
      reranker: { compare: (_, texts) => (isDown ? Promise.reject(new Error('Down.')) : preferGreeting(texts)) },
      onError: (error) => errors.push(error),
    })
    await fill(test)
    await partsOf(test.registry).search.warmed
    const page = async (number: number) => names(await test.api().searchSkills({ q: need, page: number, limit: 1 }))
    const first = await page(1)
    isDown = false
    expect([...first, ...(await page(2)), ...(await page(3))]).toEqual(byWords)
    test.clock.advance(3000)
    expect(await page(1)).toEqual(['greeting'])
    isDown = true
    expect(new Set([...(await page(1)), ...(await page(2)), ...(await page(3))])).toEqual(new Set(byWords))
    isDown = true
    await Promise.all(Array.from({ length: 20 }, (_, i) => test.api().searchSkills({ q: `${need} ${i}` })))
    expect(errors.map(String)).toEqual([
      'Error: The second stage of a search failed.',
      expect.stringContaining('pauses for a minute'),
    ])
  })

  it('compares the texts once for pages that are requested at the same time', async () => {
    let compared = 0
    const compare = async (_: string, texts: readonly { text: string }[]) => {
      compared++
      return preferGreeting(texts)
    }
    const test = await open({ reranker: { compare } })
    await fill(test)
    await partsOf(test.registry).search.warmed
    const api = test.api()
    const pages = await Promise.all([1, 2, 3].map((page) => api.searchSkills({ q: need, page, limit: 1 })))
    expect(pages.flatMap(names)[0]).toBe('greeting')
    expect(new Set(pages.flatMap(names)).size).toBe(3)
    expect(compared).toBe(1)
  })

  it('orders hits by the returned similarities, and ignores errors and results of the wrong length', async () => {
    let compare: (texts: readonly { text: string }[]) => Promise<(number | undefined)[]> = preferGreeting
    const errors: unknown[] = []
    const test = await open({
      reranker: { compare: (_query, texts) => compare(texts) },
      onError: (error) => errors.push(error),
    })
    await fill(test)
    await partsOf(test.registry).search.warmed
    async function first() {
      test.clock.advance(60_000)
      return names(await test.api().searchSkills({ q: need }))
    }
    expect((await first())[0]).toBe('greeting')
    compare = async (texts) => texts.map(() => undefined)
    expect(await first()).toEqual(byWords)
    compare = async (texts) => texts.map(() => Number.NaN)
    expect(await first()).toEqual(byWords)
    compare = async () => [1]
    expect(await first()).toEqual(byWords)
    compare = () => Promise.reject(new Error('Broken.'))
    expect(await first()).toEqual(byWords)
    const metrics = await test.registry.metrics()
    const counted = metrics.filter(({ name }) => name === 'skillstead_reranked_searches_total')
    expect(Object.fromEntries(counted.map(({ labels, value }) => [labels!['result'], value]))).toEqual({
      ordered: 3,
      late: 0,
      failed: 2,
      paused: 0,
    })
    expect(errors).toMatchObject([{ message: 'The second stage of a search failed.' }])
  })
})
