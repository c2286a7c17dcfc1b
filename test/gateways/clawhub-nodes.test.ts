import { createHash } from 'node:crypto'
import { partsOf } from '@skillstead/core/internal'
import { listenNode } from '@skillstead/server'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { asClawhubUser, toPageHeaders } from '../support/clawhub-acts.ts'
import { describeDatabases, type Open, type TestRegistry } from '../support/harness.ts'
import { steady } from '../support/steady.ts'

const tea = Buffer.from('---\nname: tea\ndescription: Sorts tea leaves\n---\n# Tea\n')
const mebibyte = 1024 ** 2
const dayMs = 24 * 60 * 60_000
const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

/** A node of one database, as a client of it. */
interface Node {
  readonly url: string
  /** A request of the sign-in of programs. */
  post(action: string, body: object, headers?: Record<string, string>): Promise<Response>
  poll(deviceCode: string): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

async function startNode(open: Open, first: TestRegistry): Promise<Node> {
  const { registry, close } = await open({ at: first.location, clock: first.clock })
  const node = await listenNode(registry, { port: 0, ...steady, graceMs: 1000 })
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= node.close().then(close))
  onTestFinished(stop)
  const post: Node['post'] = (action, body, headers = {}) =>
    fetch(`${node.url}/api/cli/device/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  return {
    url: node.url,
    post,
    async poll(deviceCode) {
      const response = await post('token', { device_code: deviceCode, grant_type: grantType })
      return (await response.json()) as Record<string, unknown>
    },
    stop,
  }
}

async function startNodes(open: Open) {
  const first = await open()
  const alice = await first.makeUser('alice')
  const nodes = await Promise.all([1, 2, 3].map(() => startNode(open, first)))
  const [a, b, c] = nodes as [Node, Node, Node]
  return { first, alice, nodes, a, b, c }
}

async function requestSignIn(node: Node) {
  const response = await node.post('code', { label: 'laptop' })
  return (await response.json()) as { device_code: string; user_code: string }
}

function upload(node: Node, key: string, ticket: string, bytes: Uint8Array): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` }
  const body = bytes as Uint8Array<ArrayBuffer>
  return fetch(`${node.url}/clawhub/api/v1/uploads/${ticket}`, { method: 'POST', headers, body })
}

async function announce(node: Node, key: string, bytes: Uint8Array): Promise<string> {
  const response = await asClawhubUser({ node }, key).announce(bytes)
  return ((await response.json()) as { uploadTicket: string }).uploadTicket
}

/** Announces and uploads on any nodes. */
async function send(nodes: readonly [Node, Node], key: string, bytes: Uint8Array): Promise<Response> {
  return upload(nodes[1], key, await announce(nodes[0], key, bytes), bytes)
}

describeDatabases('several nodes with one database, used by ClawHub clients', (open, dialect) => {
  it('let a client announce a file on one node, upload it to another and publish it on a third, after restarts', async () => {
    const { first, alice, a, b, c } = await startNodes(open)
    const ticket = await announce(a, alice.key, tea)
    await a.stop()
    const stored = await upload(b, alice.key, ticket, tea)
    expect(stored.status).toBe(200)
    const { storageId } = (await stored.json()) as { storageId: string }
    await b.stop()
    const files = [{ path: 'SKILL.md', size: tea.byteLength, storageId, sha256: '', uploadTicket: ticket }]
    const publish = () =>
      asClawhubUser({ node: c }, alice.key).post('/skills', {
        slug: 'tea',
        version: '1.0.0',
        displayName: 'Tea',
        files,
      })
    const published = await publish()
    expect([published.status, await published.text()]).toEqual([200, expect.stringContaining('"published"')])
    expect((await first.api().getSkill({ name: 'alice/tea' })).latestVersion).toBe('1.0.0')
    expect((await publish()).status, 'a published upload is gone').toBe(404)
  })

  it('count the uploads of a user on all nodes, and refuse only that user above the limit', async () => {
    const { first, alice, a, b, c } = await startNodes(open)
    const large = new Uint8Array(10 * mebibyte)
    for (const pair of [
      [a, b],
      [b, c],
      [c, a],
    ] as const)
      expect((await send(pair, alice.key, large)).status).toBe(200)
    const refused = await send([a, b], alice.key, large)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '600'])
    expect(await refused.text()).toContain('when the oldest has expired')
    const bob = await first.makeUser('bob')
    expect((await send([a, b], bob.key, large)).status).toBe(200)
    const response = await asClawhubUser({ node: c }, bob.key).publish('tea', { 'SKILL.md': tea })
    expect(response.status).toBe(200)
    first.clock.advance(600_000)
    expect((await send([b, c], alice.key, large)).status).toBe(200)
    const rows = () => partsOf(first.registry).database.read.selectFrom('uploads').select('size').execute()
    first.clock.advance(dayMs)
    await expect.poll(rows, { timeout: 10_000 }).toEqual([])
  })

  it('delete expired uploads of all users with the next upload, even if the clock was set back', async () => {
    const { first, alice, a, b } = await startNodes(open)
    const bob = await first.makeUser('bob')
    const { database } = partsOf(first.registry)
    const read = async () =>
      (await database.read.selectFrom('uploads').select('size').orderBy('id').execute()).map(({ size }) => size)
    expect((await send([a, b], bob.key, new Uint8Array(1))).status).toBe(200)
    first.clock.advance(600_000)
    const large = new Uint8Array(10 * mebibyte)
    for (let n = 1; n <= 3; n++) {
      expect((await send([a, b], alice.key, large)).status).toBe(200)
      expect(await read()).toEqual(Array<number>(n).fill(large.byteLength))
    }
    first.clock.advance(-30 * dayMs)
    expect((await send([b, a], alice.key, large)).status).toBe(200)
    expect(await read()).toEqual([large.byteLength])
  })

  it('sign in a program that starts at one node, is allowed on another node, and polls all nodes', async () => {
    const { first, alice, a, b, c } = await startNodes(open)
    const { device_code: code, user_code: userCode } = await requestSignIn(a)
    const waitForPoll = (seconds = 5) => first.clock.advance(seconds * 1000)
    await a.stop()
    waitForPoll()
    expect(await b.poll(code)).toEqual({ error: 'authorization_pending' })
    expect(await c.poll(code), 'too early for all nodes').toEqual({ error: 'slow_down', interval: 10 })
    waitForPoll()
    expect(await b.poll(code)).toEqual({ error: 'slow_down', interval: 15 })
    waitForPoll(15)
    const polls = await Promise.all([b, c, b, c].map((node) => node.poll(code)))
    expect(polls.filter(({ error }) => error === 'authorization_pending')).toHaveLength(1)
    expect(polls.filter(({ error }) => error === 'slow_down')).toHaveLength(3)
    const page = await toPageHeaders({ node: b }, alice.key)
    expect((await b.post('show', { userCode }, page)).status).toBe(200)
    expect((await b.post('decide', { userCode, allow: true }, page)).status).toBe(200)
    const other = await toPageHeaders({ node: c }, alice.key)
    expect((await c.post('decide', { userCode, allow: false }, other)).status).toBe(400)
    await b.stop()
    const again = await startNode(open, first)
    waitForPoll(60)
    const answers = await Promise.all([c, again, c, again].map((node) => node.poll(code)))
    const keys = answers.filter((answer) => 'access_token' in answer)
    expect(keys).toHaveLength(1)
    const user = asClawhubUser({ node: again }, String(keys[0]!['access_token']))
    expect(await user.read('/whoami')).toMatchObject({ user: { handle: 'alice' } })
    expect((await alice.api.listApiKeys()).apiKeys[0]).toMatchObject({
      name: 'signed in: laptop',
      scopes: ['read', 'publish'],
    })
    waitForPoll(60)
    expect(await c.poll(code)).toEqual({ error: 'expired_token' })
  })

  it('limit the wrong codes of a user across all nodes, even for concurrent requests', async () => {
    const { first, alice, nodes, a } = await startNodes(open)
    const { user_code: userCode } = await requestSignIn(a)
    const pages = await Promise.all(nodes.map((node) => toPageHeaders({ node: node }, alice.key)))
    const show = async (i: number, code: string) =>
      (await nodes[i % 3]!.post('show', { userCode: code }, pages[i % 3])).status
    const statuses = await Promise.all(Array.from({ length: 15 }, (_, i) => show(i, 'BBBB-BBBB')))
    expect(statuses.toSorted()).toEqual([...Array<number>(10).fill(400), ...Array<number>(5).fill(429)])
    for (const i of [0, 1, 2]) expect(await show(i, userCode)).toBe(429)
    first.clock.advance(600_000)
    expect(await show(1, (await requestSignIn(a)).user_code)).toBe(200)
  })

  it('store no code, key or address of a sign-in as plain text, and delete the sign-in within a day', async () => {
    const { first, alice, a, b } = await startNodes(open)
    const { device_code: code, user_code: userCode } = await requestSignIn(a)
    const page = await toPageHeaders({ node: a }, alice.key)
    expect((await a.post('decide', { userCode, allow: true }, page)).status).toBe(200)
    expect((await a.post('show', { userCode: 'BBBB-BBBB' }, page)).status).toBe(400)
    const { read } = partsOf(first.registry).database
    const readRows = () => read.selectFrom('sign_ins').selectAll().execute()
    const [row, ...others] = await readRows()
    expect(others).toEqual([])
    first.clock.advance(5000)
    const { access_token: key } = (await b.poll(code)) as { access_token: string }
    const stored = Object.values(row!).map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value),
    )
    const secrets = [code, userCode, userCode.replace('-', ''), key, '127.0.0.1']
    for (const secret of secrets) expect(stored.filter((value) => value.includes(secret))).toEqual([])
    expect(row).toMatchObject({ device_hash: createHash('sha256').update(code).digest('hex') })
    expect(await readRows()).toEqual([])
    await requestSignIn(a)
    first.clock.advance(dayMs)
    await expect.poll(readRows, { timeout: 10_000 }).toEqual([])
    await expect.poll(() => read.selectFrom('sign_in_guesses').select('wrong').execute()).toEqual([])
  })

  it.skipIf(dialect === 'SQLite')('answer polls while another node holds the database lock of writers', async () => {
    const { first, a, b } = await startNodes(open)
    const { device_code: code } = await requestSignIn(a)
    first.clock.advance(5000)
    const writer = new pg.Client({ connectionString: first.location.databaseUrl! })
    await writer.connect()
    try {
      await writer.query('begin')
      await writer.query('select from heads for update')
      expect(await b.poll(code)).toEqual({ error: 'authorization_pending' })
    } finally {
      await writer.end()
    }
  })
})
