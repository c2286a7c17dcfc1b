import { describe, expect, it } from 'vitest'
import { toPackets } from '../support/git-client.ts'
import { startGit } from '../support/git-acts.ts'
import { openGit } from '../support/git-program.ts'

const upload = (repository: string, headers: Record<string, string> = {}) =>
  fetch(`${repository}/git-upload-pack`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-git-upload-pack-request',
      'git-protocol': 'version=2',
      ...headers,
    },
    body: toPackets('command=ls-refs', '0001', '0000').toString(),
  })

const advertise = (repository: string) => fetch(`${repository}/info/refs?service=git-upload-pack`)

const remainingOf = ({ headers }: Response) => Number(headers.get('x-ratelimit-remaining'))

describe('the request allowance of a guest', () => {
  it('is 600 requests a minute', async () => {
    const { get, api } = await startGit({ rates: {} })
    expect((await get('/skills')).headers.get('x-ratelimit-limit')).toBe('600')
    expect((await api.getRateLimits()).anonymous).toBe(600)
  })

  it.each([
    ['whole', []],
    ['shallow', ['--depth', '1']],
    ['of one version', ['--branch', 'v1.0.0']],
    ['with version 0 of the protocol', ['-c', 'protocol.version=0']],
    ['without file contents at first', ['--filter=blob:none', '--no-checkout']],
  ])('counts a clone as one request: %s', async (_, options) => {
    const { get, repository } = await startGit({ rates: { anonymous: 10 } })
    const git = await openGit()
    await git.run('clone', '-q', ...options, repository, 'cloned')
    expect(remainingOf(await get('/skills'))).toBe(8)
  })

  it('counts a clone of an owner or a pack as one request, like a clone of a skill', async () => {
    const { repository, base, api } = await startGit({ rates: { anonymous: 3 } })
    await api.createPack({ slug: 'office', name: 'Office', description: 'For the office', skills: ['alice/tables'] })
    const git = await openGit()
    await git.run('clone', '-q', repository, 'skill')
    await git.run('clone', '-q', `${base}/alice.git`, 'owner')
    await git.run('clone', '-q', `${base}/packs/office.git`, 'pack')
    const { code, stderr } = await git.try('clone', '-q', repository, 'again')
    expect([code, stderr]).toEqual([128, expect.stringContaining('Too many requests')])
  })

  it('is charged for a git pack of another repository, and for more git packs than a clone needs', async () => {
    const { repository, base } = await startGit({ rates: { anonymous: 4 } })
    await advertise(repository)
    for (let round = 0; round < 3; round += 1) expect(remainingOf(await upload(repository))).toBe(3)
    expect(remainingOf(await upload(repository))).toBe(2)
    expect(remainingOf(await upload(`${base}/alice.git`))).toBe(1)
    expect(remainingOf(await upload(`${base}/alice/nothing.git`))).toBe(0)
    expect((await upload(repository)).status).toBe(429)
  })

  it('is charged for a git pack that is requested more than a minute after the references', async () => {
    const { repository, publish } = await startGit({ rates: { anonymous: 4 } })
    await advertise(repository)
    expect(remainingOf(await upload(repository))).toBe(3)
    // The clock of the registry advances by a day.
    await publish('tables', '3.0.0')
    expect(remainingOf(await upload(repository))).toBe(2)
    expect(remainingOf(await advertise(repository))).toBe(1)
    expect(remainingOf(await upload(repository))).toBe(1)
  })

  it('is charged for each request to a repository that does not exist', async () => {
    const { base } = await startGit({ rates: { anonymous: 5 } })
    const unknown = `${base}/alice/nothing.git`
    expect((await advertise(unknown)).status).toBe(401)
    expect(remainingOf(await upload(unknown))).toBe(3)
  })

  it('is charged for wrong keys', async () => {
    const { repository } = await startGit({ rates: { anonymous: 2 } })
    await advertise(repository)
    const headers = { authorization: 'Bearer ssk_wrong' }
    expect((await upload(repository, headers)).status).toBe(401)
    expect((await upload(repository, headers)).status).toBe(429)
  })
})

describe('a clone on a private node', () => {
  it('needs a key for each of its requests', async () => {
    const { repository, key } = await startGit({ requireKey: true })
    const headers = { authorization: `Bearer ${key}` }
    expect((await fetch(`${repository}/info/refs?service=git-upload-pack`, { headers })).status).toBe(200)
    expect((await upload(repository)).status).toBe(401)
    expect((await upload(repository, headers)).status).toBe(200)
  })
})
