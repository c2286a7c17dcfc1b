import { systemCaller, localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { ListedVerification, RegistryError } from '@skillstead/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { normalizeProof } from '../../packages/core/src/accounts/verification-form.ts'
import { codeOf, refusalOf } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { openOutside, type Outside } from '../support/outside.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** The delays before a missing proof is checked again. */
const delaysMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs, 24 * hourMs]

const wellKnown = '/.well-known/skillstead-verify.txt'
const methods = ['manual', 'domain', 'github'] as const
const statuses = ['pending', 'verified', 'rejected'] as const
type Method = (typeof methods)[number]

const ask = ({ api, username }: TestUser, method: Method, proof: string) =>
  api.verifyAuthor({ username, method, proof })
const listOf = async ({ api, username }: TestUser) => (await api.listOwnVerifications({ username })).verifications
const newestOf = async (user: TestUser) => (await listOf(user))[0]!

/** Waits until a verification matches; shows its last state on a timeout. */
const until = (user: TestUser, expected: Partial<ListedVerification>) =>
  expect.poll(() => newestOf(user)).toMatchObject(expected)

/** The field at fault. */
function faultOf(method: Method, proof: string): string | undefined {
  try {
    normalizeProof(method, proof)
  } catch (error) {
    return (error as RegistryError).errors[0]?.path
  }
}

describeApi('the verification of authors', (open) => {
  let outside: Outside
  let test: TestRegistry
  let users = 0
  beforeAll(async () => {
    outside = await openOutside(['example.com', 'githubusercontent.com'])
    outside.names.add('example.com').add('www.example.com')
    const { ca, resolver } = outside
    const lookup = async (host: string) =>
      host === 'inner.example.com' ? [{ address: '10.1.2.3' }] : resolver.lookup(host)
    const outgoing = { allowNetworks: ['127.0.0.1'], ca: [ca], resolver: { ...resolver, lookup } }
    test = await open({ origin: 'node-one', outgoing })
  })
  afterAll(() => outside.close())

  const makeUser = () => test.makeUser(`author-${++users}`)
  const verifiedOf = async ({ username }: TestUser) => (await test.api().getUser({ username })).verified
  const untilDue = async (id: string, delayMs: number) => {
    const row = partsOf(test.registry).database.read.selectFrom('outbox').select('due_at')
    const dueAt = () => row.where('unique_key', '=', `verification:${id}`).executeTakeFirstOrThrow()
    await expect.poll(dueAt).toEqual({ due_at: test.clock.now() + delayMs })
  }
  const wake = () => partsOf(test.registry).database.writer.write(async () => {})
  const auditOf = async (username: string) =>
    (await test.admin.api.listAudit({ limit: 100 })).entries.filter(({ subject }) => subject === username)

  /** A verification of any method in any status. */
  async function makeVerification(method: Method, status: (typeof statuses)[number]) {
    const user = await makeUser()
    const proof = {
      manual: 'I am the one.',
      domain: `d${users}.example.com`,
      github: `https://raw.githubusercontent.com/${user.username}/me/refs/heads/main/proof.txt`,
    }[method]
    const { id, token } = await ask(user, method, proof)
    if (status !== 'pending') {
      if (method === 'manual') await test.admin.api.decideVerification({ id, status })
      else if (status === 'rejected') await ask(user, method, proof.replace(/main|^d/, 'x'))
      else await prove(user, method, proof, token)
    }
    return { id, user, proof, token }
  }

  async function prove(user: TestUser, method: Method, proof: string, token: string) {
    if (method === 'domain') outside.txt.set(proof, [[token]])
    else outside.pages.set(new URL(proof).host + new URL(proof).pathname, token)
    await ask(user, method, proof)
    await until(user, { status: 'verified' })
  }

  describe('by a domain', () => {
    it('returns instructions, and a token for the user and the node', async () => {
      const alice = await makeUser()
      expect(
        await test.statusOf(alice, 'verifyAuthor', {
          username: alice.username,
          method: 'domain',
          proof: 'a.example.com',
        }),
      ).toBe(202)
      const asked = await ask(alice, 'domain', 'a.example.com')
      expect(asked).toMatchObject({ method: 'domain', status: 'pending' })
      expect(asked.token).toMatch(new RegExp(`^skillstead-verify=${alice.username}@node-one:[\\w-]{22}$`))
      for (const part of [
        asked.token,
        'a.example.com',
        '_skillstead.a.example.com',
        `https://a.example.com${wellKnown}`,
      ])
        expect(asked.instructions).toContain(part)
    })

    it.each(['c1.example.com', '_skillstead.c2.example.com'])('is proved by a TXT record of %s', async (name) => {
      const user = await makeUser()
      const domain = name.replace('_skillstead.', '')
      const { token } = await ask(user, 'domain', domain)
      outside.txt.set(name, [['v=spf1 -all'], [token.slice(0, 10), token.slice(10)]])
      await ask(user, 'domain', domain)
      await until(user, { status: 'verified', note: '', checkedAt: '2026-01-02T12:00:00.000Z' })
      expect(await verifiedOf(user)).toEqual(['domain'])
      expect((await user.api.getMe()).verified).toEqual(['domain'])
      const verifications = [{ method: 'domain', subject: domain }]
      expect(await test.api().getUser({ username: user.username })).toMatchObject({ verifications })
      expect(await user.api.getMe()).toMatchObject({ verifications })
      expect((await test.api().getReputation({ username: user.username })).verified).toEqual(['domain'])
    })

    it('is proved by a file, with the token on its own line', async () => {
      const user = await makeUser()
      const { token } = await ask(user, 'domain', 'file.example.com')
      outside.pages.set(`file.example.com${wellKnown}`, `# Who we are\r\n  ${token}  \r\nMore.\n`)
      await ask(user, 'domain', 'file.example.com')
      await until(user, { status: 'verified' })
      expect(await verifiedOf(user)).toEqual(['domain'])
    })

    it.each([
      ['among other words', (token: string) => `Not ${token}.`],
      ['of another user', (token: string) => token.replace('author-', 'mallory-')],
      ['of another node', (token: string) => token.replace('node-one', 'node-two')],
      ['with more after it', (token: string) => `${token}x`],
      ['in capitals', (token: string) => token.toUpperCase()],
    ])('is not proved by a token %s', async (_, change) => {
      const user = await makeUser()
      const domain = `n${users}.example.com`
      const { token } = await ask(user, 'domain', domain)
      outside.txt.set(domain, [[change(token)]])
      outside.pages.set(`${domain}${wellKnown}`, change(token))
      await ask(user, 'domain', domain)
      await until(user, { status: 'pending', note: expect.stringContaining('does not contain the token') })
      expect(await verifiedOf(user)).toEqual([])
    })

    it('is not proved by an error page, or a page of another host', async () => {
      const user = await makeUser()
      const { token } = await ask(user, 'domain', 'bad.example.com')
      outside.pages.set(`bad.example.com${wellKnown}`, (_, response) => response.writeHead(404).end(token))
      await ask(user, 'domain', 'bad.example.com')
      await until(user, { status: 'pending', note: expect.stringContaining('the status 404') })
      const location = `https://www.example.com${wellKnown}`
      outside.pages.set(`www.example.com${wellKnown}`, token)
      outside.pages.set(`bad.example.com${wellKnown}`, (_, response) => response.writeHead(301, { location }).end())
      await ask(user, 'domain', 'bad.example.com')
      await until(user, { status: 'pending', note: expect.stringContaining('redirect') })
    })

    it('is checked a second time if the user repeats the request during the first check', async () => {
      const user = await makeUser()
      outside.pages.set(`busy.example.com${wellKnown}`, (_, response) => response.writeHead(404).end())
      const { token } = await ask(user, 'domain', 'busy.example.com')
      await until(user, { note: expect.stringContaining('the status 404') })
      const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      outside.pages.set(`busy.example.com${wellKnown}`, (_, response) => {
        begun.resolve()
        void over.promise.then(() => response.writeHead(404).end())
      })
      await ask(user, 'domain', 'busy.example.com')
      await begun.promise
      outside.pages.set(`busy.example.com${wellKnown}`, token)
      await ask(user, 'domain', 'busy.example.com')
      over.resolve()
      await until(user, { status: 'verified' })
    })

    it('is the same for every notation of the domain', async () => {
      const user = await makeUser()
      const { id } = await ask(user, 'domain', 'Bücher.Example.COM')
      expect((await ask(user, 'domain', 'xn--bcher-kva.example.com.')).id).toBe(id)
      expect(await listOf(user)).toMatchObject([{ proof: 'xn--bcher-kva.example.com' }])
    })

    it.each(['localhost', 'https://example.com', '127.0.0.1', 'printer.local', 'git.internal', 'inner.example.com'])(
      'is refused: %s',
      async (proof) => {
        const user = await makeUser()
        const refusal = await refusalOf(ask(user, 'domain', proof))
        expect(refusal).toMatchObject({ code: 'invalid_request', errors: [{ path: 'proof' }] })
        expect(refusal.message).not.toContain('10.')
        expect(await listOf(user)).toEqual([])
      },
    )
  })

  describe('by GitHub', () => {
    it.each([
      ['https://raw.githubusercontent.com/alice/me/refs/heads/main/docs/proof.txt', undefined],
      ['https://gist.githubusercontent.com/alice/00aa11/raw/proof.txt', undefined],
      [
        `https://gist.githubusercontent.com/alice/00aa12/raw/${'ab'.repeat(20)}/proof.txt`,
        'https://gist.githubusercontent.com/alice/00aa12/raw/proof.txt',
      ],
    ])('is proved by a file with the token: %s', async (proof, kept = proof) => {
      const user = await makeUser()
      const { token, instructions } = await ask(user, 'github', proof)
      expect(instructions).toContain(kept)
      await prove(user, 'github', kept, token)
      expect(await newestOf(user)).toMatchObject({
        proof: kept,
        status: 'verified',
        instructions: 'Verified: nothing left to do.',
      })
      expect(await verifiedOf(user)).toEqual(['github'])
    })

    it('is not proved by a page that others can edit', async () => {
      const user = await makeUser()
      const refusal = await refusalOf(ask(user, 'github', 'https://github.com/alice/me/issues/1'))
      expect(refusal).toMatchObject({ code: 'invalid_request', errors: [{ path: 'proof' }] })
      expect(await listOf(user)).toEqual([])
    })
  })

  describe('a second request', () => {
    it('returns the same verification and checks it again at once', async () => {
      const user = await makeUser()
      outside.names.add('again.example.com')
      const first = await ask(user, 'domain', 'again.example.com')
      await until(user, { checkedAt: expect.any(String) })
      const looks = () => outside.requests.filter((request) => request.includes('again.example.com')).length
      const before = looks()
      const second = await ask(user, 'domain', 'again.example.com')
      expect({ id: second.id, token: second.token }).toEqual({ id: first.id, token: first.token })
      await expect.poll(looks).toBe(before + 1)
      expect(await listOf(user)).toHaveLength(1)
    })

    it('has the same token as all other pending requests of the user', async () => {
      const user = await makeUser()
      const tokens = [
        (await ask(user, 'domain', 'token.example.com')).token,
        (await ask(user, 'github', 'https://gist.githubusercontent.com/alice/0/raw')).token,
        (await ask(user, 'manual', 'Ask me.')).token,
        (await ask(user, 'domain', 'token2.example.com')).token,
      ]
      expect(new Set(tokens).size).toBe(1)
      const other = await makeUser()
      expect((await ask(other, 'domain', 'token.example.com')).token).not.toBe(tokens[0])
    })

    it('replaces only a pending request that has the same method and another proof', async () => {
      const user = await makeUser()
      const manual = await ask(user, 'manual', 'Ask me.')
      const old = await ask(user, 'domain', 'old.example.com')
      const { token } = await ask(user, 'domain', 'new.example.com')
      expect(await listOf(user)).toMatchObject([
        { proof: 'new.example.com', status: 'pending' },
        { id: old.id, status: 'rejected', note: 'Replaced by another proof.' },
        { id: manual.id, status: 'pending' },
      ])
      outside.txt.set('old.example.com', [[token]])
      await prove(user, 'domain', 'new.example.com', token)
      test.clock.advance(minuteMs)
      await wake()
      expect((await listOf(user)).map(({ status }) => status)).toEqual(['verified', 'rejected', 'pending'])
    })

    it('changes nothing if the proof is already verified', async () => {
      const { id, user, proof } = await makeVerification('domain', 'verified')
      expect(await ask(user, 'domain', proof)).toMatchObject({ id, status: 'verified' })
      expect(await listOf(user)).toHaveLength(1)
    })

    it('creates a new verification with a new token after a revocation', async () => {
      const { id, user, proof, token } = await makeVerification('domain', 'verified')
      await test.admin.api.decideVerification({ id, status: 'rejected', note: 'Sold.' })
      const again = await ask(user, 'domain', proof)
      expect(again.id).not.toBe(id)
      expect(again.token).not.toBe(token)
      await until(user, { id: again.id, status: 'pending', checkedAt: expect.any(String) })
      expect(await verifiedOf(user)).toEqual([])
    })

    it('does not accept the old token after a revocation', async () => {
      const user = await makeUser()
      const { token } = await ask(user, 'manual', 'Ask me.')
      const { id } = await ask(user, 'domain', 'left.example.com')
      await prove(user, 'domain', 'left.example.com', token)
      await ask(user, 'domain', 'left.example.com')
      await expect.poll(() => verifiedOf(user)).toEqual(['domain'])
      await test.admin.api.decideVerification({ id, status: 'rejected', note: 'Sold.' })
      const again = await ask(user, 'domain', 'left.example.com')
      expect(again.token).not.toBe(token)
      await until(user, { id: again.id, status: 'pending', checkedAt: expect.any(String) })
      expect(await verifiedOf(user)).toEqual([])
    })
  })

  it('stays pending while the proof is unreachable, is retried for two days, and is then rejected', async () => {
    const user = await makeUser()
    outside.names.add('gone.example.com')
    outside.unreachable = true
    const asked = await ask(user, 'domain', 'gone.example.com')
    expect(asked.checkedAt).toBeNull()
    for (const delayMs of delaysMs) {
      const checkedAt = new Date(test.clock.now()).toISOString()
      await until(user, { status: 'pending', checkedAt, note: expect.stringContaining('closed the connection') })
      await untilDue(asked.id, delayMs)
      test.clock.advance(delayMs)
      await wake()
    }
    await until(user, { status: 'rejected', note: expect.stringContaining('No proof was found in time.') })
    outside.unreachable = false
    expect(await verifiedOf(user)).toEqual([])
    const { note } = await newestOf(user)
    expect(note).not.toMatch(/127\.0\.0\.1|ECONN/)
  })

  it('succeeds at a later check if the proof is unreachable at first', async () => {
    const user = await makeUser()
    outside.names.add('late.example.com')
    outside.unreachable = true
    const { id, token } = await ask(user, 'domain', 'late.example.com')
    await until(user, { status: 'pending', note: expect.stringContaining('closed the connection') })
    // The check ends a moment after its result can be read, and is rescheduled from then on.
    await untilDue(id, minuteMs)
    outside.unreachable = false
    outside.pages.set(`late.example.com${wellKnown}`, token)
    test.clock.advance(minuteMs)
    await wake()
    await until(user, { status: 'verified' })
  })

  describe('can be', () => {
    it('requested only by the user', async () => {
      const [alice, bob] = [await makeUser(), await makeUser()]
      const input = { username: alice.username, method: 'manual', proof: 'I am Alice.' } as const
      for (const api of [bob.api, test.admin.api, localApi(test.registry, systemCaller)])
        expect(await codeOf(api.verifyAuthor(input))).toBe('forbidden')
      expect(await codeOf(test.api().verifyAuthor(input))).toBe('unauthorized')
      expect(await codeOf(alice.api.verifyAuthor({ ...input, username: 'unknown-user' }))).toBe('not_found')
      expect(await listOf(alice)).toEqual([])
    })

    it('read only by the user and by administrators', async () => {
      const [alice, bob] = [await makeUser(), await makeUser()]
      const { id } = await ask(alice, 'manual', 'I am Alice.')
      const { username } = alice
      expect((await test.admin.api.listOwnVerifications({ username })).verifications).toMatchObject([{ id, username }])
      expect(await codeOf(bob.api.listOwnVerifications({ username }))).toBe('forbidden')
      expect(await codeOf(test.api().listOwnVerifications({ username }))).toBe('unauthorized')
      expect(await codeOf(alice.api.listOwnVerifications({ username: 'unknown-user' }))).toBe('not_found')
      expect(JSON.stringify(await bob.api.getUser({ username }))).not.toContain('I am Alice')
    })
  })

  describe('by decision of an administrator', () => {
    const allowed = new Set([
      'manual pending verified',
      'manual pending rejected',
      'manual verified rejected',
      'manual rejected verified',
      'domain verified rejected',
      'github verified rejected',
    ])
    const cases = methods.flatMap((method) =>
      statuses.flatMap((from) => (['verified', 'rejected'] as const).map((to) => ({ method, from, to }))),
    )

    const isAllowed = ({ method, from, to }: (typeof cases)[number]) => allowed.has(`${method} ${from} ${to}`)

    it.each(cases.filter(isAllowed))('changes from $from to $to for method $method', async ({ method, from, to }) => {
      const { id, user } = await makeVerification(method, from)
      const input = { id, status: to, note: 'Seen in person.' }
      expect(await codeOf(user.api.decideVerification(input))).toBe('forbidden')
      expect(await codeOf(test.api().decideVerification(input))).toBe('unauthorized')
      expect(await test.admin.api.decideVerification(input)).toMatchObject({ ...input, username: user.username })
      const verified = to === 'verified' ? [method] : []
      expect(await verifiedOf(user)).toEqual(verified)
      expect((await test.api().getReputation({ username: user.username })).verified).toEqual(verified)
      const [entry] = await auditOf(user.username)
      expect(entry).toMatchObject({ actor: 'root', action: `verification.${to}`, data: { id, method, from } })
      expect(JSON.stringify(entry)).not.toMatch(/Seen in person|I am the one|example\.com/)
    })

    it.each(cases.filter((each) => !isAllowed(each)))(
      'never changes from $from to $to for method $method',
      async ({ method, from, to }) => {
        const { id, user } = await makeVerification(method, from)
        const seen = async () => ({
          statuses: (await listOf(user)).map(({ status }) => status),
          audit: await auditOf(user.username),
          verified: await verifiedOf(user),
        })
        const before = await seen()
        const input = { id, status: to }
        expect(await codeOf(user.api.decideVerification(input))).toBe('forbidden')
        expect(await codeOf(test.api().decideVerification(input))).toBe('unauthorized')
        expect(await codeOf(test.admin.api.decideVerification(input))).toBe('invalid_transition')
        expect(await seen()).toEqual(before)
      },
    )

    it('is not checked again after a revocation', async () => {
      const { id, user } = await makeVerification('domain', 'verified')
      await test.admin.api.decideVerification({ id, status: 'rejected' })
      test.clock.advance(hourMs)
      await wake()
      const { token } = await ask(user, 'domain', 'marker.example.com')
      await prove(user, 'domain', 'marker.example.com', token)
      expect((await listOf(user)).find((row) => row.id === id)).toMatchObject({ status: 'rejected' })
    })

    it('changes only for the decided method, not for other methods of the user', async () => {
      const { id, user } = await makeVerification('domain', 'verified')
      const manual = await ask(user, 'manual', 'Ask me.')
      await test.admin.api.decideVerification({ id: manual.id, status: 'verified' })
      expect(await verifiedOf(user)).toEqual(['domain', 'manual'])
      await test.admin.api.decideVerification({ id, status: 'rejected' })
      expect(await verifiedOf(user)).toEqual(['manual'])
    })

    it('returns not_found if the verification does not exist', async () => {
      const id = '00000000-0000-7000-8000-000000000000'
      expect(await codeOf(test.admin.api.decideVerification({ id, status: 'verified' }))).toBe('not_found')
      expect(await codeOf(test.admin.api.decideVerification({ id: 'x', status: 'verified' }))).toBe('not_found')
      const pending = { id, status: 'pending' } as never
      expect(await codeOf(test.admin.api.decideVerification(pending))).toBe('invalid_request')
    })
  })

  it('is listed only for administrators, oldest first, by status and method', async () => {
    const user = await makeUser()
    const ids = [(await ask(user, 'manual', 'One.')).id, (await ask(user, 'manual', 'Two.')).id]
    const read = async (input: Parameters<TestUser['api']['listVerifications']>[0]) => {
      const { verifications, total } = await test.admin.api.listVerifications({ ...input, limit: 100 })
      expect(total).toBeGreaterThanOrEqual(verifications.length)
      return verifications
    }
    const all = await read({ method: 'manual' })
    expect(all.every(({ method }) => method === 'manual')).toBe(true)
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted())
    expect(
      (await read({ method: 'manual', status: 'pending' })).filter(({ username }) => username === user.username),
    ).toMatchObject([{ id: ids[1], proof: 'Two.' }])
    expect((await read({ status: 'rejected' })).some(({ id }) => id === ids[0])).toBe(true)
    expect(await codeOf(user.api.listVerifications())).toBe('forbidden')
    expect(await codeOf(test.api().listVerifications())).toBe('unauthorized')
  })

  it('is limited to twenty requests a day, and can be read without limit', async () => {
    const user = await makeUser()
    for (let i = 1; i <= 20; i++) await ask(user, 'manual', `Ask me ${i}.`)
    const refusal = await refusalOf(ask(user, 'domain', 'one-more.example.com'))
    expect(refusal).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 24 * 60 * 60 })
    expect(await ask(user, 'manual', 'Ask me 20.')).toMatchObject({ status: 'pending' })
    expect((await user.api.listOwnVerifications({ username: user.username })).total).toBe(20)
    test.clock.advance(24 * hourMs)
    expect(await ask(user, 'manual', 'Ask me 21.')).toMatchObject({ status: 'pending' })
  })

  it.each([
    ['manual', '   '],
    ['manual', ''],
    ['manual', 'x'.repeat(1001)],
    ['letter', 'x'],
  ])('refuses %s with the proof %j', async (method, proof) => {
    const user = await makeUser()
    expect(await codeOf(ask(user, method as Method, proof))).toBe('invalid_request')
    expect(await listOf(user)).toEqual([])
  })
})

describe('a proof', () => {
  it.each([
    'localhost',
    'com',
    'https://example.com',
    'example.com/',
    'example.com:443',
    'example.com/x',
    'user@example.com',
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '[::1]',
    '::1',
    'a..example.com',
    '-a.example.com',
    'exa mple.com',
    '.com',
    '*.example.com',
    'example.com?x',
    'example.com#x',
    'ex%61mple.com',
    'a\\b.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(130)}com`,
    'example.1',
    '_skillstead.example.com',
    ' ',
  ])('cannot be an invalid domain: %j', (proof) => {
    expect(faultOf('domain', proof)).toBe('proof')
  })

  it.each([
    'https://github.com/alice/me/issues/1',
    'https://github.com/alice/me/blob/main/proof.txt',
    'https://gist.github.com/alice/00aa11',
    'https://raw.githubusercontent.com/alice/me/main/proof.txt',
    `https://raw.githubusercontent.com/alice/me/${'ab'.repeat(20)}/proof.txt`,
    'https://raw.githubusercontent.com/alice/me/refs/pull/1/head/proof.txt',
    'https://raw.githubusercontent.com/alice/me/refs/tags/v1/proof.txt',
    'https://raw.githubusercontent.com/alice/me/refs/heads/main',
    'https://raw.githubusercontent.com/mallory/../alice/me/refs/heads/main/x',
    'https://raw.githubusercontent.com/mallory/%2e%2e/alice/me/refs/heads/main/x',
    'https://raw.githubusercontent.com/alice%2Fme/x/refs/heads/main/x',
    'https://raw.githubusercontent.com/alice/me/refs/heads/main/..%2fx',
    'https://raw.githubusercontent.com/alice\\me/refs/heads/main/x',
    'https://raw.githubusercontent.com//alice/me/refs/heads/main/x',
    'https://raw.githubusercontent.com/alice/me/refs/heads//x/y',
    'https://raw.githubusercontent.com/alice/me/refs/heads/main/x?token=1',
    'https://raw.githubusercontent.com/alice/me/refs/heads/main/x#y',
    'https://raw.githubusercontent.com:8443/alice/me/refs/heads/main/x',
    'https://raw.githubusercontent.com:443/alice/me/refs/heads/main/x',
    'https://user:pass@raw.githubusercontent.com/alice/me/refs/heads/main/x',
    'https://raw.githubusercontent.com@evil.example.com/alice/me/refs/heads/main/x',
    'https://raw.githubusercontent.com.evil.example.com/alice/me/refs/heads/main/x',
    'https://evil.example.com/alice/me/refs/heads/main/x',
    'http://raw.githubusercontent.com/alice/me/refs/heads/main/x',
    'http://gist.githubusercontent.com/alice/00aa11/raw/x',
    'https://gist.githubusercontent.com/00aa11/raw/x',
    'https://gist.githubusercontent.com/alice/00aa11/x',
    'https://gist.githubusercontent.com/alice/00aa11/raw/../../../mallory/1/raw',
    'https://gist.githubusercontent.com/-/00aa11/raw/x',
    'file:///etc/passwd',
    'alice',
  ])('cannot be a URL that proves no account: %s', (proof) => {
    expect(faultOf('github', proof)).toBe('proof')
  })
})
