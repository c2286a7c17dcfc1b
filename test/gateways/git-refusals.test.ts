import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { startGit } from '../support/git-acts.ts'
import {
  fetchObjects,
  listRefs,
  readBlobTexts,
  readPackets,
  toPacket,
  toPackets,
  unknownId,
  upload,
} from '../support/git-client.ts'

/** What git shows of an error: the text of an `ERR` packet, or of a plain response. */
async function readRefusal(response: Response): Promise<string> {
  const text = Buffer.from(await response.arrayBuffer())
  return response.ok ? readPackets(text).join('|') : `${response.status} ${text.toString().trim()}`
}

const refs = (repository: string, init?: RequestInit) =>
  fetch(`${repository}/info/refs?service=git-upload-pack`, { redirect: 'manual', ...init })

/** Commits that no repository has. */
const toHaves = (count: number) =>
  Array.from({ length: count }, () => toPacket(`have ${randomBytes(20).toString('hex')}\n`)).join('')

describe('a malformed request', () => {
  it('gets an error that names the problem', async () => {
    const { repository } = await startGit()
    const { HEAD = '' } = await listRefs(repository)
    const fetching = (...lines: string[]) => toPackets('command=fetch', '0001', `want ${HEAD}`, ...lines, '0000')
    const cases: [version: 0 | 2, body: Buffer | string, expected: string][] = [
      [0, 'want', 'The request has a packet without a length in hex digits.'],
      [0, '00', 'The request has a packet without a length in hex digits.'],
      [0, '0003', 'The request has a packet with the invalid length 0003.'],
      [0, `fff5${'x'.repeat(70_000)}`, 'The request has a packet with the invalid length fff5.'],
      [0, '0032want ', 'The request ends within a packet.'],
      [0, toPackets(`want ${HEAD}`), 'The request ends before a flush packet.'],
      [0, toPackets(`want ${HEAD}`, '0001', '0000'), 'Unexpected packet.'],
      [0, toPackets('want abc', '0000'), 'The request has a want line without an object id: "abc".'],
      [0, toPackets(`want ${HEAD.toUpperCase()}`, '0000'), 'The request has a want line without an object id'],
      [
        0,
        toPackets(`want ${HEAD}`, 'push', '0000'),
        'The request has an unknown line before its first flush packet: "push".',
      ],
      [
        0,
        toPackets(`want ${HEAD}`, '0000', 'having', '0000'),
        'The request has an unknown line among its haves: "having".',
      ],
      [0, toPackets(`want ${HEAD}`, 'deepen 0', '0000', 'done'), 'The request has an invalid deepen line: "0".'],
      [0, toPackets(`want ${HEAD}`, 'deepen -1', '0000', 'done'), 'The request has an invalid deepen line: "-1".'],
      [
        0,
        toPackets(`want ${HEAD} object-format=sha256`, '0000', 'done'),
        'This repository has the object format sha1. Request that one.',
      ],
      [0, toPackets(`want ${unknownId}`, '0000', 'done'), `upload-pack: not our ref ${unknownId}`],
      [2, toPackets('command=push', '0000'), 'The command "push" is not supported.'],
      [2, toPackets('agent=x', '0000'), 'The request has no command.'],
      [2, toPackets('command=fetch', '0001', `want ${HEAD}`), 'The request does not end with a flush packet.'],
      [2, fetching('filter blob:none', 'done'), 'The argument "filter blob:none" of fetch is not supported.'],
      [2, fetching('deepen-not refs/heads/x', 'done'), 'deepen-not is not a ref: "refs/heads/x"'],
      [2, fetching('deepen-since 99999999999', 'done'), 'no commits selected for shallow requests'],
      [2, fetching(`want ${unknownId}`, 'done'), `upload-pack: not our ref ${unknownId}`],
    ]
    for (const [version, body, expected] of cases) {
      expect(await readRefusal(await upload(repository, body, { version })), expected).toContain(`ERR ${expected}`)
    }
  })

  it('with too many lines or bytes is refused, also if only its decompressed body has too many', async () => {
    const { repository } = await startGit()
    const { HEAD = '' } = await listRefs(repository)
    const wanting = toPackets(`want ${HEAD}`, '0000').toString()
    const many = await readRefusal(await upload(repository, `${wanting}${toHaves(32_769)}0009done\n`))
    expect(many).toBe('ERR The request has more than 32768 have lines.')
    const most = await upload(repository, `${wanting}${toHaves(32_000)}0009done\n`)
    expect(Buffer.from(await most.arrayBuffer()).toString('latin1', 0, 12)).toBe('0008NAK\nPACK')
    expect(await readRefusal(await upload(repository, `${wanting}${toHaves(45_000)}`))).toMatch(/^413 /)
    const wants = Array.from({ length: 516 }, (_, i) => `want ${`${i}`.padStart(40, 'e')}`)
    const wanted = await readRefusal(await upload(repository, toPackets(...wants, '0000', 'done')))
    // Three references, and 512 more.
    expect(wanted).toBe('ERR The request wants more than 515 objects. Fetch fewer at once.')
    const gzip = { 'content-encoding': 'gzip' }
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024))
    expect(await readRefusal(await upload(repository, bomb, { headers: gzip }))).toBe(
      '413 The decompressed body exceeds 2097152 bytes.',
    )
  })

  it('is refused if its media type or content encoding is wrong', async () => {
    const { repository } = await startGit()
    const send = async (headers: Record<string, string>) => readRefusal(await upload(repository, 'x', { headers }))
    expect(await send({ 'content-type': 'text/plain' })).toMatch(
      /^415 Send the body as application\/x-git-upload-pack-request/,
    )
    expect(await send({ 'content-encoding': 'deflate' })).toMatch(/^415 /)
    expect(await send({ 'content-encoding': 'gzip' })).toBe('400 The body is not valid gzip.')
  })

  it('that requests no objects gets an empty response, or an error if it is incomplete', async () => {
    const { repository } = await startGit()
    expect(await readRefusal(await upload(repository, '0000'))).toBe('')
    expect(await readRefusal(await upload(repository, '0000', { version: 2 }))).toBe('')
    expect(await readRefusal(await upload(repository, ''))).toContain('ERR The request ends before a flush packet.')
  })
})

describe('an aborted fetch', () => {
  it('leaves the node able to serve other clients', async () => {
    const { publish, repository } = await startGit()
    const content = randomBytes(2_000_000).toString('base64')
    await publish('tables', '3.0.0', { files: [{ path: 'large.bin', content, encoding: 'base64' }] })
    const { HEAD = '' } = await listRefs(repository)
    const body = toPackets(`want ${HEAD} side-band-64k`, '0000', 'done')
    for (let i = 0; i < 5; i++) {
      const abort = new AbortController()
      const response = await upload(repository, body, { signal: abort.signal })
      const reader = response.body!.getReader()
      await reader.read()
      abort.abort()
      await expect(reader.read()).rejects.toThrow('aborted')
    }
    expect((await fetchObjects(repository, [HEAD])).size).toBe(13)
  })
})

describe('access to a repository', () => {
  it('asks guests for a password, whether a repository is private or does not exist', async () => {
    const { api, base, publish, key, createUser } = await startGit()
    await publish('secret', '1.0.0', { visibility: 'private' })
    await api.createPack({ name: 'Own', slug: 'own', description: '', skills: [], visibility: 'private' })
    const other = await createUser('bob')
    const answer = async (path: string, authorization?: string) => {
      const response = await refs(`${base}/${path}`, { headers: { ...(authorization && { authorization }) } })
      const { status, headers } = response
      return {
        status,
        text: await response.text(),
        asks: headers.get('www-authenticate'),
        type: headers.get('content-type'),
      }
    }
    const asked = await answer('alice/absent.git')
    expect(asked).toEqual({
      status: 401,
      text:
        'There is no such public repository. To read a private one, sign in.\n' +
        'Any user name; the password is an API key or the token of a share link.\n',
      asks: 'Basic realm="Skillstead", charset="UTF-8"',
      type: 'text/plain; charset=utf-8',
    })
    for (const path of [
      'alice/secret.git',
      'no-one/absent.git',
      'bob.git',
      'no-one.git',
      'packs/own.git',
      'packs/no.git',
    ]) {
      expect(await answer(path), path).toEqual(asked)
    }
    const strange = `Basic ${btoa(`x:${other}`)}`
    const [hidden, absent] = [await answer('alice/secret.git', strange), await answer('alice/absent.git', strange)]
    expect(hidden).toEqual(absent)
    expect(hidden).toMatchObject({ status: 404, asks: null })
    for (const wrong of [`Basic ${btoa('x:ssk_wrong')}`, `Basic ${btoa('x:ssl_wrong')}`, 'Basic ?', 'Digest x']) {
      expect(await answer('alice/tables.git', wrong), wrong).toMatchObject({ status: 401, asks: asked.asks })
    }
    expect(await answer('alice/secret.git', `Basic ${btoa(`any:${key}`)}`)).toMatchObject({ status: 200 })
    expect(await answer('alice/secret.git', `Bearer ${key}`)).toMatchObject({ status: 200 })
  })

  it('with a share link is limited to the shared skill, and opens no other private skill', async () => {
    const { api, base, publish } = await startGit()
    await publish('secret', '1.0.0', { visibility: 'private' })
    await publish('second', '1.0.0', { visibility: 'private' })
    const { id, token } = await api.createShare({ name: 'alice/secret' })
    const headers = { authorization: `Basic ${btoa(`git:${token}`)}` }
    expect((await refs(`${base}/alice/secret.git`, { headers })).headers.get('cache-control')).toBe('private, no-store')
    expect((await refs(`${base}/alice/second.git`, { headers })).status).toBe(404)
    await api.deleteShare({ name: 'alice/secret', id })
    expect((await refs(`${base}/alice/secret.git`, { headers })).status).toBe(401)
  })

  it('needs a key on a private node', async () => {
    const { repository, key } = await startGit({ requireKey: true })
    const response = await refs(repository)
    expect([response.status, response.headers.get('www-authenticate')?.slice(0, 5)]).toEqual([401, 'Basic'])
    expect((await refs(repository, { headers: { authorization: `Basic ${btoa(`git:${key}`)}` } })).status).toBe(200)
  })

  it('gives no objects of other repositories', async () => {
    const { base, publish, repository, key } = await startGit()
    await publish('secret', '1.0.0', { visibility: 'private' })
    const headers = { authorization: `Basic ${btoa(`git:${key}`)}` }
    const lines = readPackets(new Uint8Array(await (await refs(`${base}/alice/secret.git`, { headers })).arrayBuffer()))
    const secret = lines[2]!.slice(0, 40)
    await expect(fetchObjects(repository, [secret])).rejects.toThrow(`ERR upload-pack: not our ref ${secret}`)
    const { HEAD = '' } = await listRefs(repository)
    const tree = /^tree (\w{40})/.exec((await fetchObjects(repository, [HEAD])).get(HEAD)!.bytes.toString())![1]!
    await expect(fetchObjects(repository, [tree])).rejects.toThrow(`ERR upload-pack: not our ref ${tree}`)
  })

  it('ends when the skill is deleted, and reports a takedown', async () => {
    const { api, base, repository, publish } = await startGit()
    const { HEAD = '' } = await listRefs(repository)
    const body = toPackets(`want ${HEAD}`, '0000', 'done')
    const notice = {
      claimantName: 'C',
      claimantEmail: 'c@claims.example',
      workDescription: 'W',
      originalUrl: 'https://claims.example/',
    }
    const statements = { goodFaith: true, accuracy: true, signature: 'C' } as const
    const { id } = await api.submitDmca({ skillName: 'alice/tables', ...notice, ...statements })
    await api.updateDmca({ id, status: 'removed' })
    expect(await readRefusal(await refs(repository))).toBe('451 alice/tables is under a takedown.')
    expect(await readRefusal(await upload(repository, body))).toBe('451 alice/tables is under a takedown.')
    const owned = await fetchObjects(`${base}/alice.git`, [(await listRefs(`${base}/alice.git`)).HEAD!])
    expect(readBlobTexts(owned)).toHaveLength(1)
    await publish('other', '1.0.0')
    await api.deleteSkill({ name: 'alice/other' })
    expect((await refs(`${base}/alice/other.git`)).status).toBe(401)
  })

  it('redirects to the new owner of a transferred skill, whose history stays the same', async () => {
    const { api, apiOf, base, createUser, repository } = await startGit()
    const { HEAD: before } = await listRefs(repository)
    await createUser('bob')
    await api.transferSkill({ name: 'alice/tables', newOwner: 'bob' })
    await (await apiOf('bob')).acceptTransfer({ name: 'alice/tables' })
    const response = await refs(repository)
    expect(response.status).toBe(308)
    expect(response.headers.get('location')).toBe('/git/bob/tables.git/info/refs?service=git-upload-pack')
    expect((await refs(`${base}/bob/tables`)).status).toBe(200)
    // A fetch that began before the transfer.
    const fetching = toPackets(`want ${before}`, '0000', 'done')
    expect(await readRefusal(await upload(repository, fetching))).toBe('ERR The skill is now bob/tables. Fetch again.')
    expect((await listRefs(`${base}/bob/tables`)).HEAD).toBe(before)
  })

  it('is read-only, and needs the smart protocol', async () => {
    const { base, repository } = await startGit()
    const readOnly = '403 Repositories are read-only. Publish skills with `skillstead publish`.'
    expect(await readRefusal(await fetch(`${repository}/info/refs?service=git-receive-pack`))).toBe(readOnly)
    expect(await readRefusal(await fetch(`${repository}/git-receive-pack`, { method: 'POST' }))).toBe(readOnly)
    for (const path of ['info/refs', 'HEAD', 'objects/info/packs', 'objects/ab/cdef']) {
      for (const place of [repository, `${base}/alice.git`]) {
        expect(await readRefusal(await fetch(`${place}/${path}`)), path).toMatch(/^403 The dumb HTTP protocol/)
      }
    }
    expect(await readRefusal(await fetch(`${repository}/git-upload-pack`))).toMatch(/^405 /)
    expect((await fetch(repository)).status).toBe(404)
  })
})
