import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { endpoints, limits } from '@skillstead/protocol'
import * as v from 'valibot'
import { writeZip } from '@skillstead/skill-format/archives'
import { json, sendRaw, skillMd, startNode } from '../support/server-harness.ts'

const send = (method: string, body?: string | Uint8Array<ArrayBuffer>, contentType = 'application/json') =>
  body === undefined ? { method } : { method, body, headers: { 'content-type': contentType } }

/** An upload of the largest archive that is taken, which never ends. */
function sendAllButOneByte(port: number, key: string): Socket {
  const head = `PUT /api/v1/skills HTTP/1.1~Host: x~Authorization: Bearer ${key}~Content-Type: application/zip~`
  const socket = connect(port, '127.0.0.1')
  socket.write(`${head}Content-Length: ${limits.archiveBytesMax}~~`.replaceAll('~', '\r\n'))
  socket.write(Buffer.alloc(limits.archiveBytesMax - 1))
  return socket
}

/** A list of so many items that are all wrong, as short as it can be. */
const zeros = (count: number) => `[${'0,'.repeat(count - 1)}0]`

const padded = (bytes: number) => `{"x":1${' '.repeat(bytes - 7)}}`

describe('a hostile request body', () => {
  const lists: [string, method: string, path: string, field: string, rest?: object][] = [
    ['digests', 'POST', '/blobs/batch', 'digests'],
    ['installed skills', 'POST', '/heartbeat', 'installedSkills'],
    ['agents', 'POST', '/track', 'agents', { skillName: 'pdf' }],
    ['scopes', 'POST', '/api-keys', 'scopes', { name: 'x' }],
    ['events', 'POST', '/webhooks', 'events', { url: 'https://example.com/' }],
    ['skills of a webhook', 'POST', '/webhooks', 'skills', { url: 'https://example.com/', events: ['user.followed'] }],
    ['skills of a pack', 'POST', '/packs', 'skills', { name: 'x', description: '' }],
    ['files', 'PUT', '/skills', 'files', { skillMd }],
    ['keywords', 'PUT', '/skills', 'keywords', { skillMd }],
  ]

  it.each(lists)('with a list of half a million %s gets a single error', async (_, method, path, field, rest = {}) => {
    const { as } = await startNode()
    const body = `${JSON.stringify(rest).slice(0, -1)}${Object.keys(rest).length > 0 ? ',' : ''}"${field}":${zeros(500_000)}}`
    const response = await as(path, send(method, body))
    expect(response.status).toBe(400)
    expect((await response.json()).errors).toEqual([{ path: field, message: expect.stringMatching(/at most \d+/) }])
  })

  it('gets an error per item only if the list has an allowed length', async () => {
    const { as, get } = await startNode()
    const digests = [`sha256:${'0'.repeat(64)}`, 7]
    const wrong = await get('/blobs/batch', json({ digests }))
    expect((await wrong.json()).errors).toEqual([{ path: 'digests.1', message: 'must be a string' }])
    expect((await get('/blobs/batch', json({ digests: [] }))).status).toBe(400)
    expect((await get('/blobs/batch', json({ digests: digests.slice(0, 1) }))).status).toBe(200)
    const keywords = Array.from({ length: limits.keywordsMax + 1 }, (_, i) => `k${i}`)
    for (const list of [keywords, keywords.join(',')]) {
      const response = await as('/skills', { ...json({ skillMd, keywords: list }), method: 'PUT' })
      expect(response.status).toBe(400)
      expect((await response.json()).errors).toEqual([expect.objectContaining({ path: 'keywords' })])
    }
  })

  it('with more files than a version may have is an invalid skill', async () => {
    const { as } = await startNode()
    const files = Array.from({ length: limits.publishFilesMax }, (_, i) => ({ path: `f${i}`, content: '' }))
    const put = (list: typeof files) => as('/skills', { ...json({ skillMd, files: list }), method: 'PUT' })
    expect((await put(files)).status).toBe(422)
    expect((await put([...files, files[0]!])).status).toBe(400)
  })

  it('with too many fields is rejected before the fields are validated', async () => {
    const { get } = await startNode()
    const fields = Array.from({ length: 60_000 }, (_, i) => `"a${i}":0`)
    const response = await get('/heartbeat', send('POST', `{${fields.join(',')}}`))
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(`more than ${limits.bodyFieldsMax} fields`)
    const few = `{"installedSkills":[],${fields.slice(0, limits.bodyFieldsMax - 1).join(',')}}`
    expect((await (await get('/heartbeat', send('POST', few))).json()).errors[0].path).toBe('a0')
  })

  it('with extremely deep nesting neither blocks nor crashes the node', async () => {
    const { get } = await startNode()
    const deep = 500_000
    const closed = `{"installedSkills":${'['.repeat(deep)}${']'.repeat(deep)}}`
    const objects = `{"installedSkills":[${'{"digest":'.repeat(80_000)}0${'}'.repeat(80_000)}]}`
    for (const body of ['['.repeat(1_000_000), closed, objects, objects.replace('[', '').replace(']', '')]) {
      // Not by the time of day: on a busy machine that is mostly others' work.
      const before = process.threadCpuUsage()
      expect((await get('/heartbeat', send('POST', body))).status).toBe(400)
      const { user, system } = process.threadCpuUsage(before)
      expect((user + system) / 1000).toBeLessThan(500)
    }
    expect((await get('/skills/pdf')).status).toBe(200)
  })

  it('with millions of values is rejected; brackets and commas inside strings are not counted as values', async () => {
    const { as } = await startNode()
    const put = (body: string) => as('/skills', send('PUT', body))
    const flood = await put(`{"files":[${'{},'.repeat(limits.bodyValuesMax)}{}]}`)
    expect(flood.status).toBe(400)
    expect(await flood.text()).toContain(`more than ${limits.bodyValuesMax} values`)
    const content = `${'[{,'.repeat(500_000)}\\"\\\\`
    const files = [{ path: 'brackets.txt', content }]
    expect((await put(JSON.stringify({ skillMd, version: '4.0.0', files }))).status).toBeLessThan(300)
  })

  it('cannot contain a list without a maximum length at any endpoint', () => {
    const unbounded: string[] = []
    for (const [name, { input }] of Object.entries(endpoints)) {
      const long = Array.from({ length: 20_000 }, () => 0)
      for (const [field, schema] of Object.entries('entries' in input ? (input.entries as object) : {})) {
        const issues = v.safeParse(schema as v.GenericSchema, long).issues ?? []
        // An object is refused for the few fields that it lacks.
        if (issues.length === 0 || issues.length > 3) unbounded.push(`${name}.${field}`)
      }
    }
    expect(unbounded).toEqual([])
  })
})

describe('a caller without permission', () => {
  const bodies: [string, string | Uint8Array<ArrayBuffer> | undefined, string?][] = [
    ['no body', undefined],
    ['broken JSON', '{"name":'],
    ['text', 'name: x', 'text/plain'],
    ['a broken archive', new Uint8Array([1, 2, 3]), 'application/zip'],
    ['a body over the limit', new Uint8Array(limits.bodyBytesMax + 1)],
  ]

  it.each(bodies)('gets only the permission error for a request with %s', async (_, body, contentType) => {
    const { get, createUser } = await startNode()
    const guest = await get('/skills', send('PUT', body, contentType))
    expect(guest.status).toBe(401)
    expect(await guest.json()).toMatchObject({ code: 'unauthorized' })
    const { headers, ...init } = send('POST', body, contentType) as RequestInit
    const authorization = `Bearer ${await createUser('bob')}`
    const user = await get('/users', { ...init, headers: { ...headers, authorization } })
    expect(user.status).toBe(403)
    expect(await user.json()).toMatchObject({ code: 'forbidden' })
  })

  it('gets the response before the body has arrived', async () => {
    const { node } = await startNode()
    const head = 'PUT /api/v1/skills HTTP/1.1~Host: x~Content-Type: application/json~Content-Length: 100~'
    const answer = await sendRaw(node.port, `${head}Connection: close~~{`)
    expect(answer).toMatch(/^HTTP\/1.1 401 /)
  })
})

describe('the maximum size of a request body', () => {
  const rows: [method: string, path: string, bytesMax: number][] = [
    ['POST', '/heartbeat', limits.bodyBytesDefault],
    ['POST', '/api-keys', limits.bodyBytesDefault],
    ['PATCH', '/users/me', 512 * 1024],
    ['POST', '/external/scan', 12 * 1024 * 1024],
    ['PUT', '/skills', 24 * 1024 * 1024],
  ]

  it.each(rows)('depends on the endpoint: %s %s accepts %i bytes', async (method, path, bytesMax) => {
    const { as } = await startNode()
    expect((await as(path, send(method, padded(bytesMax)))).status).toBe(400)
    const response = await as(path, send(method, padded(bytesMax + 1)))
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ code: 'payload_too_large' })
  })

  it('applies to the total of the concurrent bodies of one caller, not only to each body', async () => {
    const { as, get, node, key, createUser } = await startNode()
    const bob = await createUser('bob')
    const noArchive = send('PUT', Buffer.alloc(1024), 'application/zip')
    const status = async (init: RequestInit) => (await as('/skills', init)).status
    const large = Array.from({ length: 4 }, () => sendAllButOneByte(node.port, key))
    await expect.poll(() => status(noArchive)).toBe(503)
    const refused = await as('/skills', noArchive)
    expect(await refused.json()).toMatchObject({
      code: 'overloaded',
      detail: expect.stringContaining('large requests'),
    })
    expect(refused.headers.get('retry-after')).toBe('1')
    const address = `${node.url}/clawhub/api/v1/skills`
    const upload = {
      method: 'POST',
      headers: { ...noArchive.headers, authorization: `Bearer ${key}` },
      body: padded(1024),
    }
    expect((await fetch(address, upload)).status).toBe(503)
    const ofBob = { ...noArchive, headers: { ...noArchive.headers, authorization: `Bearer ${bob}` } }
    expect((await get('/skills', ofBob)).status).toBe(422)
    for (const socket of large) socket.destroy()
    await expect.poll(() => status(noArchive)).toBe(422)
    expect((await fetch(address, upload)).status).toBe(400)
  })

  it('is sufficient for a picture of the maximum size', async () => {
    const { as } = await startNode()
    const content = Buffer.alloc(limits.avatarBytesMax).toString('base64')
    const response = await as('/users/me', {
      ...json({ avatar: { contentType: 'image/png', content } }),
      method: 'PATCH',
    })
    expect(response.status).not.toBe(413)
  })
})

describe('the query of a request with a JSON body or an archive', () => {
  it('cannot contain fields of the body', async () => {
    const { as } = await startNode()
    const missing = await as('/api-keys?name=q', { method: 'POST' })
    expect(missing.status).toBe(400)
    expect((await missing.json()).errors).toEqual([{ path: 'name', message: 'is required' }])
    const made = await as('/api-keys?name=q&name=r', json({ name: 'body' }))
    expect(made.status).toBe(201)
    expect(await made.json()).toMatchObject({ name: 'body' })
    expect((await as('/packs/none?name=q', { method: 'PATCH' })).status).toBe(404)
  })

  it('is ignored if a skill is published as JSON', async () => {
    const { as, api } = await startNode()
    const body = json({ skillMd, name: 'pdf', version: '2.0.0' })
    const response = await as('/skills?name=other&category=hidden', { ...body, method: 'PUT' })
    expect(response.status).toBeLessThan(300)
    expect((await response.json()).skill).toMatchObject({ fullName: 'alice/pdf', latestVersion: '2.0.0' })
    expect((await api.getSkill({ name: 'alice/pdf' })).category).not.toBe('hidden')
  })

  it('has the fields of a publication if the body is an archive; repeated fields are rejected', async () => {
    const { as } = await startNode()
    const zip = new Uint8Array(writeZip([{ path: 'SKILL.md', bytes: Buffer.from(skillMd) }]))
    const put = (query: string) => as(`/skills?${query}`, send('PUT', zip, 'application/zip'))
    expect((await (await put('version=3.0.0')).json()).version).toMatchObject({ version: '3.0.0' })
    expect((await put('version=3.0.1&version=3.0.2')).status).toBe(400)
  })

  it('may contain the format of a scan report, but no other field of the scan', async () => {
    const { as, node } = await startNode()
    const wrong = await as('/external/scan?format=xml&content=q', json({}))
    expect((await wrong.json()).errors).toEqual([expect.objectContaining({ path: 'format' })])
    const twice = await as('/external/scan?format=json', json({ content: 'x', format: 'json' }))
    expect(twice.status).toBe(400)
    const { paths } = await (await fetch(`${node.url}/openapi.json`)).json()
    const names = paths['/external/scan'].post.parameters.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['format', 'Idempotency-Key'])
    expect(paths['/blobs/batch'].post.requestBody.content['application/json'].schema.properties.digests).toMatchObject({
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      maxItems: limits.blobBatchMax,
    })
  })
})
