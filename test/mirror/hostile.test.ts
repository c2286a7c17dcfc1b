import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { refusalOf } from '../support/answers.ts'
import { openFalseNode, type FalseEntry, type FalseNode, type FalsePage } from '../support/false-node.ts'
import { describePairs, openPair as openInMemory, three } from '../support/false-pair.ts'
import { startMs } from '../support/harness.ts'
import { createNoteSigner } from '../support/note-signer.ts'

const dayMs = 24 * 60 * 60 * 1000

describe('an upstream that returns something other than a feed', () => {
  const page = { origin: 'upstream.example', epoch: 7, entries: [], next: 0, head: 0, checkpoint: '' }

  it.each<[string, (node: FalseNode) => void]>([
    ['a page for people', (node) => answerWith(node, '<html><h1>Sign in to our Wi-Fi</h1></html>', 'text/html')],
    ['half of a page', (node) => answerWith(node, JSON.stringify(page).slice(0, 40))],
    ['nothing', (node) => answerWith(node, '')],
    ['a list', (node) => answerWith(node, '[]')],
    ['JSON of a depth that no parser bears', (node) => answerWith(node, '['.repeat(5_000_000))],
    ['a page without a checkpoint', (node) => void (node.page = (one) => ({ ...one, checkpoint: null }))],
    ['a checkpoint that is none', (node) => void (node.page = (one) => ({ ...one, checkpoint: 'trust me' }))],
    ['numbers that are none', (node) => void (node.page = (one) => ({ ...one, head: -1, next: '7', epoch: 1e300 }))],
    ['entries without a number', (node) => change(node, (entries) => entries.map(({ seq: _seq, ...rest }) => rest))],
    ['entries out of order', (node) => change(node, (entries) => entries.toReversed())],
    ['a gap', (node) => change(node, (entries) => entries.slice(1))],
    ['an entry twice', (node) => change(node, ([first, ...rest]) => [first, first, ...rest])],
    ['no entries, and says that there are more', (node) => change(node, () => [])],
    ['more entries than a page may have', (node) => change(node, () => manyEntries(1500))],
    [
      'an entry longer than any',
      (node) => change(node, ([first]) => [{ ...first, data: { text: 'x'.repeat(70_000) } }]),
    ],
    ['half of a character', (node) => change(node, ([first]) => [{ ...first, subject: '\ud800' }])],
    ['a redirect to another host', (node) => redirect(node, 'http://127.0.0.2:1/')],
    ['a redirect to itself', (node) => redirect(node, '/api/v1/feed')],
  ])('causes an error message and no import, and the stored skills are still served: %s', async (_, spoil) => {
    const { node, mirror, served, alarm } = await openInMemory()
    node.publish('mallory/new')
    node.publish('mallory/other')
    spoil(node)
    const before = node.requests.length
    const error = await refusalOf(mirror.sync('main'))
    expect(['upstream_failed', 'conflict']).toContain(error.code)
    expect(error.message, error.message).toMatch(/^[^\n]+[.?]$/)
    expect(await served()).toEqual(three)
    expect(node.requests.length - before, 'it does not ask for ever').toBeLessThan(12)
    const standing = await alarm()
    node.page = (one) => one
    node.instead = undefined
    if (standing) await mirror.sync('main', { accept: standing as 'altered' })
    else await mirror.sync('main')
    expect(await served()).toEqual([...three, 'mallory/new', 'mallory/other'])
  })

  it('cannot fill the memory of the mirror with a decompression bomb', async () => {
    const { node, mirror, served } = await openInMemory()
    const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024))
    node.instead = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb)
      return true
    }
    const error = await refusalOf(mirror.sync('main'))
    expect(error).toMatchObject({
      code: 'upstream_failed',
      message: expect.stringContaining('the response is larger than') as string,
    })
    expect(await served()).toEqual(three)
  })

  it('is disconnected by the mirror if its response never ends', async () => {
    const { node, mirror } = await openInMemory()
    node.instead = (_, response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ')
      const pour = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', pour)
      pour()
      return true
    }
    expect((await refusalOf(mirror.sync('main'))).message).toContain('the response is larger than')
  })
})

describePairs('an upstream whose log differs from what it signed before', (openPair) => {
  it('pauses the mirror with the reason rollback if the log has fewer entries than before', async () => {
    const { node, mirror, alarm, served, alarms } = await openPair()
    node.entries = node.entries.slice(0, 2)
    expect((await refusalOf(mirror.sync('main'))).message).toContain('it lost entries')
    expect(await alarm()).toBe('rollback')
    expect(alarms.map(({ code }) => code)).toEqual(['rollback'])
    expect(await served()).toEqual(three)
    const asked = node.requests.length
    expect((await refusalOf(mirror.sync('main'))).code).toBe('conflict')
    expect(node.requests.length, 'it is left alone until the operator decides').toBe(asked)
    await mirror.sync('main', { accept: 'rollback' })
    expect(await served(), 'an absence deletes nothing').toEqual(three)
  })

  it.each([
    ['the same size', (node: FalseNode) => void node.entries.pop()],
    ['a larger one', (node: FalseNode) => node.publish('bob/more')],
  ])('pauses the mirror as fork if it has another history of %s', async (_, grow) => {
    const { node, mirror, alarm, served } = await openPair()
    node.publish('mallory/new')
    node.entries[0] = { ...node.entries[0]!, at: '2020-01-01T00:00:00.000Z' }
    grow(node)
    await refusalOf(mirror.sync('main'))
    expect(await alarm()).toBe('fork')
    expect(await served()).toEqual(three)
  })

  it("pauses the mirror with the reason epoch if the log's epoch differs, or origin if the log's name differs", async () => {
    const one = await openPair()
    one.node.epoch = 8
    await refusalOf(one.mirror.sync('main'))
    expect(await one.alarm()).toBe('epoch')
    await one.mirror.sync('main', { accept: 'epoch' })
    const two = await openPair()
    two.node.origin = 'other.example'
    await refusalOf(two.mirror.sync('main'))
    expect(await two.alarm()).toBe('origin')
    expect(await two.served()).toEqual(three)
  })

  it('pauses the mirror with the reason altered if an entry is missing or changed', async () => {
    for (const spoil of [
      (entry: FalseEntry) => ({ ...entry, subject: 'mallory/evil@1.0.0' }),
      (entry: FalseEntry) => ({ ...entry, data: { ...entry.data, hidden: 1 } }),
    ]) {
      const { node, mirror, alarm, served } = await openPair()
      node.publish('mallory/new')
      change(node, (entries: FalseEntry[]) => entries.map((entry) => (entry.seq === 4 ? spoil(entry) : entry)))
      await refusalOf(mirror.sync('main'))
      expect(await alarm()).toBe('altered')
      expect(await served()).toEqual(three)
      node.page = (one) => one
      await mirror.sync('main', { accept: 'altered' })
      expect(await served()).toEqual([...three, 'mallory/new'])
    }
  })

  it('pauses the mirror with the reason freeze if the log was signed too long ago', async () => {
    const { node, mirror, clock, alarm, served } = await openPair()
    clock.advance(dayMs + 1)
    expect((await refusalOf(mirror.sync('main'))).message).toContain(
      'may be hiding later entries, or one of the clocks is wrong',
    )
    expect(await alarm()).toBe('freeze')
    node.nowMs = clock.now()
    await mirror.sync('main', { accept: 'freeze' })
    expect(await alarm()).toBeUndefined()
    expect(await served()).toEqual(three)
  })
})

describePairs('a new key of an upstream', (openPair, openMirror) => {
  it('pauses the mirror with the reason key if no trusted key endorsed the new key', async () => {
    for (const key of [true, false]) {
      const { node, mirror, alarm, served } = await openPair({ key })
      const thief = createNoteSigner(node.origin)
      node.signers = [thief]
      node.publish('mallory/new')
      await refusalOf(mirror.sync('main'))
      expect(await alarm()).toBe('key')
      expect(await served()).toEqual(three)
    }
  })

  it("pauses the mirror with the reason key if it claims the old key's signature without having it", async () => {
    const { node, mirror, alarm } = await openPair({ key: true })
    const [old] = node.signers
    const thief = createNoteSigner(node.origin)
    node.signers = [thief, { ...old!, sign: () => thief.sign(''), cosign: () => '' }]
    await refusalOf(mirror.sync('main'))
    expect(await alarm()).toBe('key')
  })

  it('is trusted if the old key signs the log too, and later replaces the old key', async () => {
    const { node, mirror, alarm, served } = await openPair({ key: true })
    const [old] = node.signers
    const next = createNoteSigner(node.origin)
    node.signers = [next, old!]
    node.publish('alice/more')
    await mirror.sync('main')
    expect((await mirror.status('main'))[0]!.keys).toEqual([next.vkey, old!.vkey])
    node.signers = [next]
    node.publish('alice/still-more')
    await mirror.sync('main')
    expect((await mirror.status('main'))[0]!.keys).toEqual([next.vkey])
    expect(await served()).toContain('alice/still-more')
    node.signers = [old!]
    await refusalOf(mirror.sync('main'))
    expect(await alarm()).toBe('key')
  })

  it('is rejected if another key was pinned before the first sync', async () => {
    const node = await openFalseNode(startMs)
    node.publish('alice/pdf')
    const { mirror, api } = await openMirror()
    await mirror.add('main', node.url, { key: createNoteSigner(node.origin).vkey })
    expect((await refusalOf(mirror.sync('main'))).code).toBe('conflict')
    expect((await api.searchSkills({})).total).toBe(0)
  })
})

describePairs('a clock that jumps', (openPair) => {
  it.each([-3650, -1])(
    'back by %i days on the mirror pauses it with the reason future, and no data is lost',
    async (days) => {
      const { node, mirror, clock, alarm, served } = await openPair()
      clock.set(startMs + days * dayMs)
      node.publish('alice/more')
      await refusalOf(mirror.sync('main'))
      expect(await alarm()).toBe('future')
      clock.set(startMs + 60_000)
      await mirror.sync('main', { accept: 'future' })
      expect(await served()).toContain('alice/more')
    },
  )

  it('forward by ten years on the mirror pauses it with the reason freeze until the clock is corrected', async () => {
    const { node, mirror, clock, alarm, served } = await openPair()
    clock.set(startMs + 3650 * dayMs)
    node.publish('alice/more')
    await refusalOf(mirror.sync('main'))
    expect(await alarm()).toBe('freeze')
    clock.set(startMs)
    await mirror.sync('main', { accept: 'freeze' })
    expect(await served()).toContain('alice/more')
  })

  it('at the upstream pauses the mirror with the reason future if over 10 minutes ahead, or freeze if ten years behind', async () => {
    const { node, mirror, alarm } = await openPair()
    node.nowMs = startMs + 10 * 60_000
    await mirror.sync('main')
    expect(await alarm()).toBeUndefined()
    for (const aheadMs of [11 * 60_000, dayMs]) {
      node.nowMs = startMs + aheadMs
      expect((await refusalOf(mirror.sync('main'))).message).toContain("ahead of this node's clock")
      expect(await alarm()).toBe('future')
      await mirror.sync('main', { accept: 'future' })
    }
    node.nowMs = startMs - 3650 * dayMs
    await refusalOf(mirror.sync('main'))
    expect(await alarm()).toBe('freeze')
  })
})

function answerWith(node: FalseNode, body: string, type = 'application/json'): void {
  node.instead = (_, response) => {
    response.writeHead(200, { 'content-type': type }).end(body)
    return true
  }
}

function redirect(node: FalseNode, location: string): void {
  node.instead = (_, response) => {
    response.writeHead(302, { location }).end()
    return true
  }
}

function change(node: FalseNode, spoil: (entries: FalseEntry[]) => unknown[]): void {
  node.page = (page: FalsePage) =>
    page.entries.length === 0 ? page : { ...page, entries: spoil(page.entries as FalseEntry[]) }
}

function manyEntries(count: number): unknown[] {
  return Array.from({ length: count }, (_, i) => {
    const at = new Date(startMs).toISOString()
    return { seq: 4 + i, type: 'skill', at, subject: `mallory/skill-${i}`, digest: null, data: {} }
  })
}
