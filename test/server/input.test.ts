import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { limits } from '@skillstead/protocol'
import { writeZip } from '@skillstead/skill-format/archives'
import { json, sendRaw, skillMd, startNode } from '../support/server-harness.ts'

const withType = (contentType: string | undefined, body: BodyInit, method = 'POST'): RequestInit => ({
  method,
  body,
  headers: contentType ? { 'content-type': contentType } : {},
})

describe('the input of a request', () => {
  it('contains the name of a skill as one path segment with an encoded slash, decoded once', async () => {
    const { get } = await startNode()
    expect(await (await get('/skills/alice%2Fpdf')).json()).toMatchObject({ fullName: 'alice/pdf' })
    expect(await (await get('/skills/alice%2fpdf')).json()).toMatchObject({ fullName: 'alice/pdf' })
    expect((await get('/skills/alice%252Fpdf')).status).toBe(404)
    const malformed = await get('/skills/%ff')
    expect(malformed.status).toBe(400)
    expect(await malformed.json()).toMatchObject({ code: 'invalid_request', errors: [{ path: 'name' }] })
  })

  it('may contain a name with an unencoded slash, unless a word of the API follows the slash', async () => {
    const { get, as, api } = await startNode()
    await api.publishSkill({ skillMd: skillMd.replaceAll('pdf', 'versions'), version: '1.0.0' })
    expect(await (await get('/skills/alice/pdf')).json()).toMatchObject({ fullName: 'alice/pdf' })
    expect((await get('/skills/alice/pdf', { method: 'HEAD' })).status).toBe(200)
    expect(await (await get('/skills/alice/pdf/versions')).json()).toMatchObject({ versions: [{ version: '1.0.0' }] })
    expect(await (await get('/skills/alice/pdf/versions/1.0.0')).json()).toMatchObject({ version: '1.0.0' })
    expect(await (await get('/skills/alice/pdf/files/SKILL.md')).text()).toBe(skillMd)
    expect(await (await as('/skills/alice/pdf/star', { method: 'PUT' })).json()).toMatchObject({ starred: true })
    const wrong = await as('/skills/alice/pdf/archive', { method: 'DELETE' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(await (await get('/skills/pdf/versions')).json(), 'the word').toMatchObject({ total: 1 })
    for (const path of ['/skills/alice/versions', '/skills/alice/versions/archive', '/skills/alice/files/versions'])
      expect((await get(path)).status, path).toBe(404)
    expect(await (await get('/skills/alice%2Fversions')).json()).toMatchObject({ fullName: 'alice/versions' })
    expect((await get('/skills/alice/none')).status).toBe(404)
    expect((await get('/skills/alice/pdf/none')).status).toBe(404)
    expect((await get('/skills/alice/%ff')).status).toBe(400)
    expect((await get('/skills/alice%2Fpdf/pdf')).status).toBe(404)
  })

  it('may contain each query parameter only once, or else gets 400; unknown parameters are ignored', async () => {
    const { get } = await startNode()
    const twice = await get('/skills?page=1&limit=2&page=2')
    expect(twice.status).toBe(400)
    expect((await twice.json()).errors).toEqual([{ path: 'page', message: expect.any(String) }])
    expect((await get('/skills?utm=1&utm=2&__proto__=x&constructor=y')).status).toBe(200)
    expect((await get('/skills?page=0')).status).toBe(400)
  })

  it('must be a JSON object in UTF-8; other bodies get 400 without details of the parser', async () => {
    const { as } = await startNode()
    const bodies = ['{"name":', '[]', 'null', '"text"', '7', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]
    for (const body of bodies) {
      const response = await as('/api-keys', withType('application/json', body))
      expect(response.status, String(body)).toBe(400)
      expect(await response.text()).not.toMatch(/SyntaxError|Unexpected|position/)
    }
    expect((await as('/api-keys', withType('application/json', '\uFEFF{"name":"with a mark"}'))).status).toBe(201)
  })

  it('must have the media type JSON; other types get 415', async () => {
    const { as } = await startNode()
    const types = [
      undefined,
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'application/zip',
    ]
    for (const type of types) {
      const response = await as('/api-keys', withType(type, Buffer.from('{"name":"x"}')))
      expect(response.status, type).toBe(415)
      expect(await response.json()).toMatchObject({ code: 'unsupported_media_type' })
    }
    expect((await as('/api-keys', withType('Application/JSON; Charset="UTF-8"', '{"name":"x"}'))).status).toBe(201)
  })

  it('may lack a body if no field is required', async () => {
    const { as } = await startNode()
    expect((await as('/skills/pdf/star', { method: 'PUT' })).status).toBe(200)
    expect((await as('/skills/pdf/star', { method: 'DELETE' })).status).toBe(200)
    expect((await as('/api-keys', { method: 'POST' })).status).toBe(400)
  })

  it('cannot override a path parameter or contain unknown fields', async () => {
    const { as } = await startNode()
    const bodies = [
      { path: '/skills/pdf/fork', body: '{"name":"other"}', field: 'name' },
      { path: '/api-keys', body: '{"name":"x","__proto__":{"scopes":["read"]}}', field: '__proto__' },
      { path: '/api-keys', body: '{"name":"x","constructor":1}', field: 'constructor' },
      { path: '/api-keys', body: '{"name":"x","extra":1}', field: 'extra' },
    ]
    for (const { path, body, field } of bodies) {
      const response = await as(path, withType('application/json', body))
      expect(response.status, body).toBe(400)
      expect((await response.json()).errors).toEqual([expect.objectContaining({ path: field })])
    }
    const archive = { contentType: 'application/zip', body: [1] }
    const response = await as('/skills', { ...json({ skillMd, archive }), method: 'PUT' })
    expect(response.status).toBe(400)
    expect((await response.json()).errors).toEqual([expect.objectContaining({ path: 'archive' })])
  })

  it('may be the archive of a skill to publish, with the other fields of the publication in the query', async () => {
    const { as } = await startNode()
    const zip = writeZip([{ path: 'SKILL.md', bytes: Buffer.from(skillMd.replace('name: pdf', 'name: zipped')) }])
    for (const [type, version] of [
      ['application/zip', '3.0.0'],
      ['application/x-zip-compressed', '3.0.1'],
    ] as const) {
      const response = await as(`/skills?version=${version}&category=docs`, withType(type, Buffer.from(zip), 'PUT'))
      expect(response.status, type).toBeLessThan(300)
      expect((await response.json()).skill).toMatchObject({ fullName: 'alice/zipped', category: 'docs' })
    }
    const broken = await as('/skills', withType('application/gzip', gzipSync('no tar'), 'PUT'))
    expect(broken.status).toBeGreaterThanOrEqual(400)
    expect(broken.status).toBeLessThan(500)
  })

  it('is rejected during the upload if it is too large, whatever its Content-Length', async () => {
    const { as, node, key } = await startNode()
    const declared = await sendRaw(
      node.port,
      `POST /api/v1/api-keys HTTP/1.1~Host: x~Authorization: Bearer ${key}~Content-Type: application/json~` +
        `Content-Length: ${limits.bodyBytesDefault + 1}~Connection: close~~{`,
    )
    expect(declared).toMatch(/^HTTP\/1.1 413 /)
    expect(declared).toContain('"payload_too_large"')
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1 << 20
        if (sent > limits.bodyBytesDefault + (4 << 20)) controller.close()
        else controller.enqueue(new Uint8Array(1 << 20).fill(32))
      },
    })
    const init = { ...withType('application/json', endless), duplex: 'half' } as RequestInit
    const streamed = await as('/api-keys', init)
    expect(streamed.status).toBe(413)
    expect((await as('/users/me')).status).toBe(200)
  })

  it('changes nothing if the body is truncated', async () => {
    const { node, key, as } = await startNode()
    const head = `POST /api/v1/api-keys HTTP/1.1~Host: x~Authorization: Bearer ${key}~Content-Type: application/json~`
    const short = sendRaw(node.port, `${head}Content-Length: 5~Connection: close~~{"name":"x"}`)
    expect(await short).toMatch(/^HTTP\/1.1 400 /)
    expect((await (await as('/api-keys')).json()).apiKeys.some(({ name }: { name: string }) => name === 'x')).toBe(
      false,
    )
  })
})
