import { randomUUID } from 'node:crypto'
import { createClient } from '@skillstead/client'
import { verifyProvenance } from '@skillstead/client/verify'
import { localApi } from '@skillstead/core'
import type { RegistryError } from '@skillstead/protocol'
import { expect, inject, it, onTestFinished, vi } from 'vitest'
import { codeOf, fieldsOf, skillMd } from '../support/answers.ts'
import { startExchangingNode, startIssuer } from '../support/ci-issuer.ts'
import { createSigningKey, encodeToken, macToken, signToken } from '../support/identity-node.ts'

type Exchanging = Awaited<ReturnType<typeof startExchangingNode>>

const apiWith = ({ node }: Exchanging, apiKey: string) => createClient({ baseUrl: node.url, apiKey })

/** Expects a token to be refused with a text, recorded in the audit log. */
async function expectRefused(test: Exchanging, token: string, text: string | RegExp) {
  const before = (await test.audit('identity.refuse-exchange')).length
  const { response, ...answer } = await test.exchange(token)
  expect([response.status, answer.error]).toEqual([400, 'invalid_request'])
  expect(answer.error_description).toMatch(text)
  expect(answer.access_token).toBeUndefined()
  expect(await test.audit('identity.refuse-exchange')).toHaveLength(before + 1)
}

it('the token exchange gives a CI job a 15-minute key that publishes only skills that trust the job', async () => {
  const test = await startExchangingNode()
  await test.trust('acme/pdf', { repository: 'acme/skills', ref: 'refs/heads/*' })
  const { response, ...answer } = await test.exchange()
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(answer).toMatchObject({
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: 900,
    scope: 'publish',
    targets: ['acme/pdf'],
  })
  const ci = apiWith(test, answer.access_token)
  const { skill, version } = await ci.publishSkill({ name: 'acme/pdf', skillMd: skillMd('pdf'), version: '1.0.0' })
  expect([skill.fullName, version.publisher.username]).toEqual(['acme/pdf', 'acme'])
  const identity = { issuer: test.issuer.url, claims: { repository: 'acme/skills', ref: 'refs/heads/main' } }
  expect(version.identity).toEqual(identity)
  const others = [
    () => ci.publishSkill({ name: 'acme/other', skillMd: skillMd('other') }),
    () => ci.publishSkill({ owner: 'alice', skillMd: skillMd('own') }),
    () => ci.deleteSkill({ name: 'acme/pdf' }),
    () => ci.createApiKey({ name: 'longer' }),
    () => ci.putMember({ organisation: 'acme', username: 'bob', role: 'owner' }),
    () => ci.putTrustedPublisher({ target: 'acme', issuer: test.issuer.url, claims: { repository: 'bob/x' } }),
  ]
  for (const [index, call] of others.entries()) expect([index, await codeOf(call())]).toEqual([index, 'forbidden'])
  const [used] = await test.audit('identity.exchange')
  expect(used).toMatchObject({ subject: 'acme', data: { targets: ['acme/pdf'], ...identity } })

  const record = await test.alice.getProvenance({ name: 'acme/pdf' })
  const key = await (await fetch(`${test.node.url}/api/v1/key`)).text()
  const report = verifyProvenance(record, { keys: key.trim().split('\n') })
  expect(report.ok && report.entry?.data.identity).toEqual(identity)
  expect(record).not.toHaveProperty('identity')

  test.clock.advance(15 * 60_000)
  expect(await codeOf(ci.publishSkill({ name: 'acme/pdf', skillMd: skillMd('pdf', { body: 'Two.' }) }))).toBe(
    'unauthorized',
  )
})

it('the token exchange refuses forged tokens: signed by another key or a shared secret, unsigned, or with changed claims', async () => {
  const test = await startExchangingNode()
  const { issuer, node } = test
  await test.trust('acme')
  const claims = issuer.toClaims({ aud: node.url })
  const [head, , signature] = issuer.token({ aud: node.url }).split('.') as [string, string, string]
  const foreign = createSigningKey()
  expect((await test.exchange()).response.status).toBe(200)
  const own = issuer.key()
  await expectRefused(test, signToken(foreign, claims), /key that its issuer does not have/)
  await expectRefused(test, signToken({ ...foreign, kid: own.kid }, claims), /signature/)
  await expectRefused(test, `${encodeToken({ alg: 'none' }, claims)}.`, /algorithm/)
  await expectRefused(test, `${encodeToken({ alg: 'None', kid: own.kid }, claims)}.`, /algorithm/)
  const pem = own.publicKey.export({ format: 'pem', type: 'spki' }).toString()
  await expectRefused(test, macToken(pem, own.kid, claims), /algorithm/)
  const changed = Buffer.from(JSON.stringify({ ...claims, repository: 'acme/skills' })).toString('base64url')
  await expectRefused(test, `${head}.${changed}.${signature}`, /signature/)
  await expectRefused(
    test,
    encodeToken({ alg: 'RS256', kid: own.kid, crit: ['x'], x: 1 }, claims) + '.AAAA',
    /not valid/,
  )
})

it('the token exchange refuses tokens that are expired, not valid yet, long-lived, used before, or for another service', async () => {
  const test = await startExchangingNode()
  const { issuer, node } = test
  await test.trust('acme')
  const now = Math.floor(test.clock.now() / 1000)
  const refused: [Record<string, unknown>, RegExp][] = [
    [{ exp: now - 31, aud: node.url }, /expired/],
    [{ nbf: now + 60, aud: node.url }, /nbf/],
    [{ exp: undefined, aud: node.url }, /exp/],
    [{ exp: now + 90_000, aud: node.url }, /more than a day/],
    [{ aud: 'https://other.example' }, /not for this node\. .*audience http:/],
    [{ aud: undefined }, /aud/],
    [{ aud: `${node.url}.evil.example` }, /not for this node/],
    [{ aud: [node.url, 'https://other.example'] }, /several services/],
    [{ sub: undefined, aud: node.url }, /sub/],
  ]
  for (const [claims, text] of refused) await expectRefused(test, issuer.token(claims), text)
  const token = issuer.token({ aud: node.url })
  expect((await test.exchange(token)).response.status).toBe(200)
  await expectRefused(test, token, /exchanged before/)
  const resigned = issuer.toClaims({ aud: node.url, jti: undefined })
  expect((await test.exchange(signToken(issuer.key(), resigned))).response.status).toBe(200)
  await expectRefused(test, signToken(issuer.key(), resigned), /exchanged before/)
  const both = issuer.token({ aud: node.url })
  const answers = await Promise.all([test.exchange(both), test.exchange(both)])
  expect(answers.map(({ response }) => response.status).toSorted()).toEqual([200, 400])
})

it('the token exchange accepts a token only if its own issuer signed it and the target trusts this issuer', async () => {
  const test = await startExchangingNode()
  const other = await startIssuer()
  await test.trust('acme')
  // Nothing is asked of an issuer that no one trusts, and its refusals are not recorded.
  const { response } = await test.exchange(other.token({ aud: test.node.url }))
  expect([response.status, other.requests]).toEqual([400, []])
  expect(await test.audit('identity.refuse-exchange')).toEqual([])
  // A trusted issuer of someone else signs for this one.
  await test.alice.putTrustedPublisher({ target: 'alice', issuer: other.url, claims: { repository: 'acme/skills' } })
  const forged = other.toClaims({ aud: test.node.url, iss: test.issuer.url })
  await expectRefused(test, signToken(other.key(), forged), /key that its issuer does not have/)
  // A token of the other issuer opens only what trusts that one.
  const answer = await test.exchange(other.token({ aud: test.node.url }), { resource: `${test.node.url}/alice` })
  expect(answer.targets).toEqual(['alice'])
  // Its metadata claims to be the first.
  const third = await startIssuer()
  await test.alice.putTrustedPublisher({ target: 'alice', issuer: third.url, claims: { repository: 'acme/skills' } })
  third.describe({ issuer: test.issuer.url })
  await expectRefused(test, third.token({ aud: test.node.url }), /describes another issuer/)
})

it('the token exchange requests the keys of an issuer again after the issuer changed them', async () => {
  const test = await startExchangingNode()
  await test.trust('acme')
  expect((await test.exchange()).response.status).toBe(200)
  const old = test.issuer.key()
  test.issuer.rotateKey()
  const { response, ...answer } = await test.exchange()
  // Tokens with unknown keys make the node ask at most twice a minute.
  expect([response.status, answer.error_description]).toEqual([400, expect.stringContaining('does not have')])
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
  test.clock.advance(31_000)
  onTestFinished(() => void vi.useRealTimers())
  expect((await test.exchange()).response.status).toBe(200)
  await expectRefused(test, signToken(old, test.issuer.toClaims({ aud: test.node.url })), /does not have/)
})

it.each<[what: string, path: string, body: object | undefined]>([
  ['has no metadata', '/.well-known/openid-configuration', undefined],
  ['has no keys', '/jwks', undefined],
  ['has keys that are none', '/jwks', { keys: 'none' }],
])('the token exchange asks an issuer that %s at most twice a minute', async (_, path, body) => {
  const test = await startExchangingNode()
  await test.trust('acme')
  test.issuer.documents.set(path, body)
  const refused = await Promise.all([1, 2, 3].map(() => test.exchange()))
  refused.push(await test.exchange())
  for (const { access_token: key, error } of refused) expect([key, error]).toEqual([undefined, expect.any(String)])
  expect(test.issuer.requests.filter((asked) => asked === path)).toHaveLength(1)
  test.issuer.documents.delete(path)
  test.clock.advance(31_000)
  expect((await test.exchange()).response.status).toBe(200)
})

it('the token exchange refuses jobs of pull and merge requests unless a trusted claim names the event', async () => {
  const test = await startExchangingNode()
  const { issuer, node } = test
  await test.trust('acme')
  for (const claims of [
    { event_name: 'pull_request' },
    { event_name: 'pull_request_target' },
    { pipeline_source: 'merge_request_event' },
    { pipeline_source: 'external_pull_request_event' },
  ])
    await expectRefused(test, issuer.token({ aud: node.url, ...claims }), /pull and merge requests/)
  await expectRefused(test, issuer.token({ aud: node.url, repository: 'fork/skills' }), /repository is fork\/skills/)
  await test.trust('acme/preview', { repository: 'acme/skills', event_name: 'pull_request' })
  const answer = await test.exchange(issuer.token({ aud: node.url, event_name: 'pull_request' }))
  expect(answer.targets).toEqual(['acme/preview'])
})

it('the token exchange compares claims in full and by case, and refuses lists and objects as claims', async () => {
  const test = await startExchangingNode()
  const { issuer, node } = test
  await test.trust('acme', { repository: 'acme/*', ref: 'refs/heads/main', run_attempt: '1' })
  const good = { aud: node.url, run_attempt: 1 }
  expect((await test.exchange(issuer.token(good))).response.status).toBe(200)
  for (const claims of [
    { ref: 'refs/heads/Main' },
    { ref: 'refs/heads/main2' },
    { ref: ['refs/heads/main'] },
    { ref: undefined },
    { repository: 'ACME/skills' },
    { repository: 'acme-evil/skills' },
    { run_attempt: { toString: '1' } },
  ])
    await expectRefused(test, issuer.token({ ...good, ...claims }), /acme does not trust this identity/)
})

const ofServiceAccount = (name: string) => ({ 'kubernetes.io': { namespace: 'ci', serviceaccount: { name } } })

it('the token exchange reads the nested claims of Kubernetes tokens', async () => {
  const test = await startExchangingNode()
  await test.trust('acme', { 'kubernetes.io/namespace': 'ci', 'kubernetes.io/serviceaccount/name': 'publisher' })
  const { issuer, node } = test
  expect(
    (await test.exchange(issuer.token({ aud: [node.url], ...ofServiceAccount('publisher') }))).response.status,
  ).toBe(200)
  await expectRefused(
    test,
    issuer.token({ aud: [node.url], ...ofServiceAccount('default') }),
    /serviceaccount\/name is default/,
  )
})

it('a CI job stays known as the publisher of a version that waits for approval', async () => {
  const test = await startExchangingNode()
  await test.trust('acme')
  await test.alice.setPolicy({ organisation: 'acme', policy: { approvals: { count: 1, when: 'always' } } })
  const ci = apiWith(test, (await test.exchange()).access_token)
  const { quarantined } = await ci.publishSkill({ skillMd: skillMd('pdf'), visibility: 'private' })
  expect(quarantined).toMatchObject({ reason: 'approval', fullName: 'acme/pdf', publisher: { username: 'acme' } })
  // The identity of CI approves nothing, and its owners do.
  expect(await codeOf(ci.reviewQuarantined({ id: quarantined!.id, verdict: 'approved' }))).toBe('forbidden')
  await test.alice.reviewQuarantined({ id: quarantined!.id, verdict: 'approved' })
  const version = await test.alice.getVersion({ name: 'acme/pdf', version: '1.0.0' })
  expect(version.identity).toMatchObject({ claims: { repository: 'acme/skills' } })
})

it('a CI job publishes to the target that it names, even if other targets trust the job', async () => {
  const test = await startExchangingNode()
  const { issuer, node } = test
  for (const target of ['acme', 'acme/pdf', 'alice/pdf', 'alice/csv']) await test.trust(target)
  const bob = await test.as('bob')
  await bob.putTrustedPublisher({ target: 'bob', issuer: issuer.url, claims: { repository: 'acme/skills' } })
  const exchange = (target: string) =>
    test.exchange(issuer.token({ aud: node.url }), { resource: `${node.url}/${target}` })
  expect((await exchange('acme')).targets).toEqual(['acme'])
  expect((await exchange('acme/other')).targets).toEqual(['acme/other'])
  expect((await exchange('alice')).targets).toEqual(['alice/csv', 'alice/pdf'])
  expect((await exchange('alice/other')).error_description).toMatch(
    /alice\/other does not trust this identity: it trusts no job of this issuer/,
  )
  // A refusal does not use a token up.
  const token = issuer.token({ aud: node.url })
  for (const resource of ['', `${node.url}/ghost`, `${node.url}/ac`])
    expect([resource, (await test.exchange(token, { resource })).response.status]).toEqual([resource, 400])
  const named = await test.exchange(token, { resource: `${node.url}/alice/pdf` })
  expect(named.targets).toEqual(['alice/pdf'])
  const { skill } = await apiWith(test, named.access_token).publishSkill({ skillMd: skillMd('pdf') })
  expect(skill.fullName).toBe('alice/pdf')
})

it('the token exchange refuses a resource with a separator, which could name a second target', async () => {
  const test = await startExchangingNode()
  await test.trust('alice')
  // `alice` may publish for `acme`, which does not trust this job.
  for (const separator of [' ', '+', '\t', ',', '%20'])
    expect(
      (await test.exchange(undefined, { resource: `${test.node.url}/alice/x${separator}acme` })).error,
      JSON.stringify(separator),
    ).toBe('invalid_target')
})

it('the token exchange returns the errors of RFC 6749 for invalid requests', async () => {
  const test = await startExchangingNode()
  await test.trust('acme')
  const token = test.issuer.token({ aud: test.node.url })
  for (const [fields, error] of [
    [{ grant_type: 'password' }, 'unsupported_grant_type'],
    [{ subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' }, 'invalid_request'],
    [{ requested_token_type: 'urn:ietf:params:oauth:token-type:jwt' }, 'invalid_request'],
    [{ actor_token: 'x' }, 'invalid_request'],
    [{ scope: 'manage' }, 'invalid_scope'],
    [{ resource: 'https://other.example/acme' }, 'invalid_target'],
    [{ resource: `${test.node.url}/a/b/c` }, 'invalid_target'],
    [{ resource: `${test.node.url}/acme/` }, 'invalid_target'],
    [{ resource: `${test.node.url}/Acme` }, 'invalid_target'],
    [{ subject_token: '' }, 'invalid_request'],
    [{ subject_token: 'no.token' }, 'invalid_request'],
    [{ subject_token: 'x'.repeat(20_000) }, 'invalid_request'],
  ] as const) {
    const answer = await test.exchange(token, fields)
    expect([fields, answer.response.status, answer.error]).toEqual([fields, 400, error])
  }
  const send = (body: string, type: string) =>
    fetch(`${test.node.url}/token/exchange`, { method: 'POST', body, headers: { 'content-type': type } })
  expect((await send('{}', 'application/json')).status).toBe(400)
  const twice = await send(`subject_token=${token}&subject_token=${token}`, 'application/x-www-form-urlencoded')
  expect(await twice.json()).toMatchObject({
    error: 'invalid_request',
    error_description: expect.stringMatching(/twice/),
  })
  expect((await fetch(`${test.node.url}/token/exchange`)).status).toBe(405)
  const host = await fetch(`${test.node.url}/token/exchange`, {
    method: 'POST',
    headers: { origin: 'https://evil.example' },
  })
  expect(host.status).toBe(403)
  // None of them used the token up.
  expect((await test.exchange(token)).response.status).toBe(200)
})

it('keys of a removed CI identity end at once, even of disabled owners and deleted organisations', async () => {
  const test = await startExchangingNode()
  const { id } = await test.trust('acme')
  const ci = apiWith(test, (await test.exchange()).access_token)
  await test.alice.deleteTrustedPublisher({ id })
  expect(await codeOf(ci.publishSkill({ name: 'acme/pdf', skillMd: skillMd('pdf') }))).toBe('unauthorized')
  await test.trust('acme')
  const last = apiWith(test, (await test.exchange()).access_token)
  await test.alice.deleteOrganisation({ organisation: 'acme' })
  expect(await codeOf(last.publishSkill({ name: 'acme/pdf', skillMd: skillMd('pdf') }))).toBe('unauthorized')
  await test.trust('alice')
  const own = apiWith(test, (await test.exchange(undefined, { resource: `${test.node.url}/alice` })).access_token)
  await (await test.as('root')).updateUser({ username: 'alice', disabled: true })
  expect(await codeOf(own.publishSkill({ skillMd: skillMd('pdf') }))).toBe('unauthorized')
  expect((await test.exchange()).response.status).toBe(400)
})

it.for(['SQLite', 'PostgreSQL'] as const)(
  'the removal of a CI identity ends no keys of other identities of the owner (%s)',
  async (dialect, context) => {
    if (dialect === 'PostgreSQL') context.skip(inject('postgresUrl') === null, 'PostgreSQL could not be started')
    const test = await startExchangingNode(dialect)
    const give = async (repository: string, target = 'acme', claims = {}) => {
      const token = test.issuer.token({ aud: test.node.url, repository, ...claims })
      return (await test.exchange(token, { resource: `${test.node.url}/${target}` })).access_token
    }
    const works = (key: string) =>
      apiWith(test, key)
        .publishSkill({ name: 'acme/pdf', skillMd: skillMd('pdf'), dryRun: true })
        .then(
          () => 'works',
          (error: RegistryError) => error.code,
        )
    const skills = await test.trust('acme')
    const tools = await test.trust('acme', { repository: 'acme/tools' })
    const many = await test.trust('acme/pdf', { repository: 'acme/long', workflow: 'x*y' })
    const ofSkill = await test.trust('acme/csv', { repository: 'acme/tools' })
    const keys = [
      await give('acme/skills'),
      await give('acme/tools'),
      await give('acme/long', 'acme/pdf', { workflow: `${'x'.repeat(600)}y` }),
    ]
    expect(await Promise.all(keys.map(works))).toEqual(['works', 'works', 'works'])
    await test.alice.deleteTrustedPublisher({ id: skills.id })
    expect(await Promise.all(keys.map(works))).toEqual(['unauthorized', 'works', 'works'])
    await test.alice.deleteTrustedPublisher({ id: many.id })
    expect(await Promise.all(keys.map(works))).toEqual(['unauthorized', 'works', 'unauthorized'])
    // A key that two identities allow ends with either of them.
    await test.alice.deleteTrustedPublisher({ id: ofSkill.id })
    expect(await works(keys[1]!)).toBe('unauthorized')
    expect(await works(await give('acme/tools'))).toBe('works')
    await test.alice.deleteTrustedPublisher({ id: tools.id })
    expect((await test.alice.listTrustedPublishers({ owner: 'acme' })).total).toBe(0)
  },
)

it('only administrators of an owner can trust CI identities, and only by claims that exclude strangers', async () => {
  const test = await startExchangingNode()
  const bob = await test.as('bob')
  const { url: issuer } = test.issuer
  const claims = { repository: 'acme/skills' }
  for (const target of ['acme', 'acme/pdf', 'alice', 'alice/pdf', 'ghost'])
    expect([target, await codeOf(bob.putTrustedPublisher({ target, issuer, claims }))]).toEqual([target, 'forbidden'])
  const made = await test.trust('acme/unborn')
  expect((await test.trust('acme/unborn')).id).toBe(made.id)
  expect((await test.alice.listTrustedPublishers({ owner: 'acme' })).publishers).toEqual([made])
  expect(await codeOf(bob.listTrustedPublishers({ owner: 'acme' }))).toBe('forbidden')
  expect(await codeOf(bob.deleteTrustedPublisher({ id: made.id }))).toBe('not_found')
  expect(await codeOf(test.alice.deleteTrustedPublisher({ id: randomUUID() }))).toBe('not_found')

  const github = 'https://token.actions.githubusercontent.com'
  const put = (fields: object) =>
    fieldsOf(test.alice.putTrustedPublisher({ target: 'acme', issuer: github, claims, ...fields }))
  for (const wide of [
    { ref: 'refs/heads/main' },
    { repository: '*' },
    { repository: 'acme*' },
    { repository: '*/skills' },
    { sub: 'repo:*' },
    { job_workflow_ref: 'acme/ci/.github/workflows/publish.yml@refs/heads/main' },
  ])
    expect([wide, await put({ claims: wide })]).toEqual([wide, ['claims']])
  expect(await put({ claims: {} })).toEqual(['claims'])
  expect(await put({ target: 'Acme/x y' })).toEqual(['target'])
  for (const address of ['http://ci.example', 'ftp://ci.example', 'https://10.0.0.1', 'https://ci.example/?x=1', 'ci'])
    expect([address, await put({ issuer: address })]).toEqual([address, ['issuer']])
  const narrow: Record<string, string>[] = [{ repository: 'acme/*' }, { repository_id: '1' }, { sub: 'repo:acme/*' }]
  for (const fine of narrow) await test.alice.putTrustedPublisher({ target: 'acme', issuer: github, claims: fine })
  const limited = localApi(test.registry, { ...(await test.registry.getCaller('alice')), scopes: ['publish'] })
  expect(await codeOf(limited.putTrustedPublisher({ target: 'alice', issuer, claims }))).toBe('forbidden')
})
