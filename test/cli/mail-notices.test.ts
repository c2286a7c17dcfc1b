import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { localApi, systemCaller, type Mailer } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { SMTPServer } from 'smtp-server'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { mailOptions, toMailer } from '../../packages/cli/src/serving/mail-options.ts'
import { fieldsOf, skillMd } from '../support/answers.ts'
import { skillstead } from '../support/cli-harness.ts'
import { openRegistry } from '../support/open-registry.ts'

const waiting = { timeout: 30_000, interval: 50 }
const publicUrl = 'https://skills.example.com'

interface Received {
  readonly from: string
  readonly to: readonly string[]
  readonly raw: string
}

/** A mail server on loopback that keeps what it receives. */
async function startMailServer() {
  const received: Received[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      username === 'node' && password === 's3cret-word'
        ? done(null, { user: username })
        : done(new Error(`Invalid login of ${username} with ${password}`)),
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString().replaceAll('=\r\n', ''),
        })
        done()
      })
    },
  })
  server.on('error', () => undefined)
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)))
  const { port } = listening.address() as AddressInfo
  return { received, url: (user = 'node:s3cret-word') => `smtp://${user}@127.0.0.1:${port}` }
}

const toGiven = (options: Record<string, string>) =>
  ({ words: [], options, io: undefined as never }) satisfies Parameters<typeof toMailer>[0]
const mailerTo = (url: string) =>
  toMailer(toGiven({ 'smtp-url': url, 'mail-from': 'node@example.com', 'public-url': `${publicUrl}/` }))!

/** A registry with an organisation `acme` whose versions need one approval. */
async function makeRegistry(mailer: Mailer | undefined) {
  const registry = await openRegistry({ path: ':memory:', ...(mailer && { mailer }) })
  onTestFinished(() => registry.close())
  const system = localApi(registry, systemCaller)
  await system.createUser({ username: 'root', role: 'admin' })
  for (const username of ['olga', 'pete', 'rae', 'rob']) await system.createUser({ username, role: 'user' })
  const as = async (name: string) => localApi(registry, await registry.getCaller(name))
  const olga = await as('olga')
  await olga.createOrganisation({ name: 'acme' })
  for (const [username, role] of [
    ['pete', 'publisher'],
    ['rae', 'reviewer'],
    ['rob', 'reviewer'],
  ] as const) {
    await olga.putMember({ organisation: 'acme', username, role })
    await (await as(username)).acceptMembership({ organisation: 'acme' })
  }
  await olga.setPolicy({ organisation: 'acme', policy: { approvals: { count: 1, when: 'always' } } })
  const submit = async (name = 'tool') => {
    const skill = { name: `acme/${name}`, skillMd: skillMd(name) }
    return (await (await as('pete')).publishSkill(skill)).quarantined!
  }
  const jobs = () =>
    partsOf(registry).database.read.selectFrom('outbox').selectAll().where('topic', '=', 'mail.notice').execute()
  return { registry, as, submit, jobs }
}

vi.setConfig({ testTimeout: 60_000 })

describe('e-mail notices', () => {
  let server: Awaited<ReturnType<typeof startMailServer>>
  beforeEach(async () => {
    server = await startMailServer()
  })

  it('reach the reviewers of a submitted version and the author of a reviewed version, as plain text with a link', async () => {
    const { as, submit } = await makeRegistry(mailerTo(server.url()))
    await (await as('rae')).updateMe({ email: 'rae@example.com' })
    await (await as('pete')).updateMe({ email: 'pete@example.com' })
    const { id } = await submit()
    await expect.poll(() => server.received, waiting).toHaveLength(1)
    const [asked] = server.received
    expect(asked).toMatchObject({ from: 'node@example.com', to: ['rae@example.com'] })
    expect(asked!.raw).toMatch(/^Subject: Review acme\/tool /m)
    expect(asked!.raw).toMatch(/^Content-Type: text\/plain/m)
    expect(asked!.raw).toContain(`${publicUrl}/account/reviews/${id}`)
    await (await as('rob')).reviewQuarantined({ id, verdict: 'changes_requested' })
    await expect.poll(() => server.received, waiting).toHaveLength(2)
    expect(server.received[1]).toMatchObject({ to: ['pete@example.com'] })
    expect(server.received[1]!.raw).toContain('returned with requested changes')
    await (await as('rob')).reviewQuarantined({ id, verdict: 'approved' })
    await expect.poll(() => server.received, waiting).toHaveLength(3)
    expect(server.received[2]!.raw).toContain(`${publicUrl}/skills/acme/tool`)
  })

  it('are not sent to users without an address, or to disabled users', async () => {
    const sent: string[] = []
    const gate = Promise.withResolvers<void>()
    const mailer: Mailer = {
      publicUrl,
      async send({ to }) {
        sent.push(to)
        await gate.promise
      },
    }
    const { registry, as, submit, jobs } = await makeRegistry(mailer)
    await (await as('rae')).updateMe({ email: 'rae@example.com' })
    await (await as('rob')).updateMe({ email: 'rob@example.com' })
    await localApi(registry, systemCaller).updateUser({ username: 'rob', disabled: true })
    await submit()
    await expect.poll(() => sent, waiting).toEqual(['rae@example.com'])
    gate.resolve()
    await (await as('rae')).updateMe({ email: null })
    await submit('other')
    expect(await jobs()).toHaveLength(1)
  })

  it('are not sent to a reviewer who left before the next attempt', async () => {
    let sent = 0
    const { registry, as, submit, jobs } = await makeRegistry({
      publicUrl,
      async send() {
        sent += 1
        throw new Error('to rae@example.com')
      },
    })
    await (await as('rae')).updateMe({ email: 'rae@example.com' })
    await submit()
    await expect.poll(async () => (await jobs()).map(({ attempts }) => attempts), waiting).toEqual([1])
    await (await as('olga')).deleteMember({ organisation: 'acme', username: 'rae' })
    const [job] = await jobs()
    expect(job!.attempt_log).not.toContain('rae@')
    await localApi(registry, systemCaller).retryOutboxRow({ id: job!.id })
    await expect.poll(async () => (await jobs()).map(({ state }) => state), waiting).toEqual(['done'])
    expect(sent).toBe(1)
  })

  it('are retried, and the record of the attempt contains neither the address nor a secret', async () => {
    const { registry, as, submit, jobs } = await makeRegistry(mailerTo(server.url('node:wr0ng-word')))
    await (await as('rae')).updateMe({ email: 'rae@example.com' })
    await submit()
    await expect.poll(async () => (await jobs()).map(({ attempts }) => attempts), waiting).toEqual([1])
    const [job] = await jobs()
    expect(job).toMatchObject({ state: 'pending' })
    expect(job!.attempt_log).toContain('The e-mail could not be sent (EAUTH 535). Check')
    expect(JSON.stringify([job, await localApi(registry, systemCaller).listOutbox({})])).not.toMatch(
      /wr0ng-word|rae@example\.com/,
    )
  })

  it('are limited in number for each address, so that users cannot flood the mailbox of another person', async () => {
    let sent = 0
    const { as, submit, jobs } = await makeRegistry({ publicUrl, send: async () => void (sent += 1) })
    await (await as('rae')).updateMe({ email: 'victim@example.com' })
    for (let i = 0; i < 34; i += 1) await submit(`tool-${i}`).catch(() => undefined)
    const pete = await as('pete')
    for (const { id } of (await pete.listQuarantined({ limit: 100 })).quarantined) await pete.deleteQuarantined({ id })
    for (let i = 0; i < 15; i += 1) await submit(`more-${i}`)
    await expect.poll(async () => (await jobs()).filter(({ state }) => state === 'pending').length, waiting).toBe(0)
    expect(sent).toBeGreaterThan(0)
    expect(sent).toBeLessThanOrEqual(30)
    expect((await jobs()).some(({ state }) => state === 'failed')).toBe(true)
  })

  it('are not even queued on a node without a mail server', async () => {
    const { as, submit, jobs } = await makeRegistry(undefined)
    await (await as('rae')).updateMe({ email: 'rae@example.com' })
    await submit()
    expect(await jobs()).toEqual([])
  })
})

describe('the e-mail address of a user', () => {
  it('is visible only to the user, who can delete the address', async () => {
    const { registry, as } = await makeRegistry(undefined)
    const rae = await as('rae')
    expect((await rae.getMe()).email).toBeNull()
    expect((await rae.updateMe({ email: 'rae@example.com' })).email).toBe('rae@example.com')
    await rae.updateMe({ displayName: 'Rae' })
    expect((await rae.getMe()).email).toBe('rae@example.com')
    const system = localApi(registry, systemCaller)
    const olga = await as('olga')
    const shown = [
      await olga.getUser({ username: 'rae' }),
      await olga.listMembers({ organisation: 'acme' }),
      await system.listUsers({}),
      await system.listAudit({ limit: 100 }),
    ]
    expect(JSON.stringify(shown)).not.toContain('rae@example.com')
    expect((await rae.updateMe({ email: null })).email).toBeNull()
  })

  it.each([
    '',
    'rae',
    'rae@',
    'a@example.com\nBcc: b@example.com',
    'a@example.com, b@example.com',
    'Rae <a@example.com>',
    `${'a'.repeat(250)}@example.com`,
  ])('cannot be %j', async (email) => {
    const { as } = await makeRegistry(undefined)
    expect(await fieldsOf((await as('rae')).updateMe({ email }))).toEqual(['email'])
  })
})

describe('the options of e-mail notices', () => {
  const good = {
    'smtp-url': 'smtps://u:pass-word@mail.example.com',
    'mail-from': 'a@example.com',
    'public-url': publicUrl,
  }

  it('are --smtp-url and --mail-from, and the public URL alone does not enable notices', () => {
    expect(Object.keys(mailOptions)).toEqual(['smtp-url', 'mail-from'])
    expect(toMailer(toGiven(good))).toMatchObject({ publicUrl })
    expect(toMailer(toGiven({ 'public-url': publicUrl }))).toBeUndefined()
  })

  it.each([
    [{ 'smtp-url': 'https://u:pass-word@mail.example.com' }, 'not the URL of a mail server'],
    [{ 'smtp-url': 'smtp://' }, 'not the URL of a mail server'],
    [{ 'mail-from': 'a@example.com\r\nBcc: b@example.com' }, 'not an e-mail address'],
    [{ 'mail-from': 'a' }, 'not an e-mail address'],
  ])('are refused if invalid, without the password in the error: %j', (wrong, reason) => {
    const act = () => toMailer(toGiven({ ...good, ...wrong }))
    expect(act).toThrow(reason)
    expect(act).not.toThrow('pass-word')
  })

  it('are refused by `serve` if a required option is missing', async () => {
    const { code, stderr } = await skillstead(['serve', '--data', '/nowhere/x', '--smtp-url', good['smtp-url']])
    expect([code, stderr]).toEqual([
      2,
      'E-mail notices need --smtp-url, --mail-from and --public-url. Pass all three.\n',
    ])
  })
})
