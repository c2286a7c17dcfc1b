import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { systemClock } from '@skillstead/core'
import { listenNode } from '@skillstead/server'
import { unpackTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openNode, startNode } from '../support/server-harness.ts'

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

interface Manifest {
  readonly config: Descriptor
  readonly layers: readonly [Descriptor]
  readonly annotations: Record<string, string>
  readonly [field: string]: unknown
}

const toSkillMd = (name: string, body = 'Reads.', more = '') =>
  `---\nname: ${name}\ndescription: What ${name} does\n${more}---\n${body}\n`
const unknown = `sha256:${'0'.repeat(64)}`

let node: Awaited<ReturnType<typeof openNode>>
const ask = (path: string, init?: RequestInit) => fetch(`${node.node.url}/v2${path}`, { redirect: 'manual', ...init })
const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const basic = (password: string, user = 'any') => ({
  headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
})
const digestOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

async function pull(repository: string, reference: string, init?: RequestInit) {
  const response = await ask(`/${repository}/manifests/${reference}`, init)
  expect(response.status).toBe(200)
  const digest = response.headers.get('docker-content-digest')!
  return { digest, manifest: (await response.json()) as Manifest }
}

async function readBlob(repository: string, digest: string): Promise<Uint8Array> {
  const response = await ask(`/${repository}/blobs/${digest}`)
  expect(response.status).toBe(200)
  return new Uint8Array(await response.arrayBuffer())
}

async function listTags(repository: string, query = '') {
  const response = await ask(`${repository}/tags/list${query}`)
  return { body: (await response.json()) as { tags: string[] }, link: response.headers.get('link') }
}

/** The status, the code and the message of an error. */
async function refuse(path: string, init?: RequestInit) {
  const response = await ask(path, init)
  expect(response.headers.get('docker-distribution-api-version')).toBe('registry/2.0')
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const { errors } = (await response.json()) as { errors: readonly [{ code: string; message: string }] }
  expect(errors).toHaveLength(1)
  return { status: response.status, ...errors[0] }
}

beforeAll(async () => {
  node = await openNode({}, undefined, { clock: { ...systemClock, now: () => Date.UTC(2026, 0, 1) } })
  const files = [
    { path: 'scripts/read/all.py', content: 'print()\n' },
    { path: 'scripts-notes.md', content: 'Notes.\n' },
  ]
  const skillMd = toSkillMd('tool', 'Reads.', 'license: MIT\ncompatibility: Needs Python\nallowed-tools: [Read]\n')
  await node.api.publishSkill({ skillMd, version: '1.0.0', files })
  await node.api.publishSkill({ skillMd: toSkillMd('tool', 'Reads more.'), version: '1.10.0' })
  await node.api.publishSkill({ skillMd: toSkillMd('tool', 'Reads all.'), version: '1.9.0' })
  await node.api.publishSkill({ skillMd: toSkillMd('secret'), version: '1.0.0', visibility: 'private' })
})

afterAll(() => node.close())

describe('a manifest', () => {
  it('describes a version, with the same bytes in every release, since clients pin its digest', async () => {
    const { digest, manifest } = await pull('alice/tool', '1.0.0')
    expect(manifest).toEqual({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      artifactType: 'application/vnd.agentskills.skill.v1',
      config: {
        mediaType: 'application/vnd.agentskills.skill.config.v1+json',
        digest: manifest.config.digest,
        size: manifest.config.size,
      },
      layers: [
        {
          mediaType: 'application/vnd.agentskills.skill.content.v1.tar+gzip',
          digest: manifest.layers[0].digest,
          size: manifest.layers[0].size,
          annotations: { 'org.opencontainers.image.title': 'tool', 'io.deis.oras.content.unpack': 'true' },
        },
      ],
      annotations: {
        'org.opencontainers.image.title': 'tool',
        'org.opencontainers.image.version': '1.0.0',
        'org.opencontainers.image.created': '2026-01-01T00:00:00.000Z',
        'org.opencontainers.image.description': 'What tool does',
        'org.opencontainers.image.licenses': 'MIT',
        'io.agentskills.skill.name': 'tool',
        'io.agentskills.skill.compatibility': 'Needs Python',
      },
    })
    expect(digest).toBe('sha256:5c372007154215cc94f19f11b7f9a7100508a6e5cf70a28a41c8a433c99c0d6a')
  })

  it('is found by tag, as latest, and by its digest', async () => {
    const latest = await pull('alice/tool', 'latest')
    expect(latest.manifest.annotations['org.opencontainers.image.version']).toBe('1.10.0')
    expect(await pull('alice/tool', '1.10.0')).toEqual(latest)
    for (const version of ['1.0.0', '1.9.0', '1.10.0']) {
      const response = await ask(`/alice/tool/manifests/${version}`)
      const bytes = new Uint8Array(await response.arrayBuffer())
      expect(response.headers.get('content-type')).toBe('application/vnd.oci.image.manifest.v1+json')
      expect(response.headers.get('docker-content-digest')).toBe(digestOf(bytes))
      const head = await ask(`/alice/tool/manifests/${version}`, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length')]).toEqual([200, `${bytes.length}`])
      const pinned = await ask(`/alice/tool/manifests/${digestOf(bytes)}`)
      expect(new Uint8Array(await pinned.arrayBuffer())).toEqual(bytes)
    }
  })

  it('is found by its digest on a node that has not computed it yet', async () => {
    const { digest } = await pull('alice/tool', '1.0.0')
    const { config } = (await pull('alice/tool', '1.9.0')).manifest
    for (const path of [`manifests/${digest}`, `blobs/${config.digest}`]) {
      const fresh = await listenNode(node.registry, { port: 0, rates: 'off' })
      onTestFinished(() => fresh.close())
      expect((await fetch(`${fresh.url}/v2/alice/tool/${path}`)).status).toBe(200)
    }
  })

  it('does not change with the metadata that an owner edits, nor with the owner', async () => {
    await node.api.publishSkill({ skillMd: toSkillMd('moved'), version: '1.0.0' })
    const before = await pull('alice/moved', '1.0.0')
    await node.api.publishSkill({ name: 'moved', description: 'Other', license: 'Apache-2.0', deprecated: true })
    expect(await pull('alice/moved', '1.0.0')).toEqual(before)
    const carol = as(await node.createUser('carol'))
    await node.api.transferSkill({ name: 'alice/moved', newOwner: 'carol' })
    await node.get('/skills/alice%2Fmoved/transfer/accept', { method: 'POST', ...carol })
    expect(await pull('carol/moved', before.digest)).toEqual(before)
    expect(await pull('alice/moved', before.digest)).toEqual(before)
  })
})

describe('a blob', () => {
  it('is the config or the layer of a manifest', async () => {
    const { manifest } = await pull('alice/tool', '1.0.0')
    const [layer] = manifest.layers
    for (const { digest, size } of [manifest.config, layer]) {
      const bytes = await readBlob('alice/tool', digest)
      expect([digestOf(bytes), bytes.length]).toEqual([digest, size])
      const head = await ask(`/alice/tool/blobs/${digest}`, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length')]).toEqual([200, `${size}`])
      expect(head.headers.get('docker-content-digest')).toBe(digest)
    }
    expect(JSON.parse(Buffer.from(await readBlob('alice/tool', manifest.config.digest)).toString())).toEqual({
      schemaVersion: '1',
      name: 'tool',
      version: '1.0.0',
      description: 'What tool does',
      license: 'MIT',
      compatibility: 'Needs Python',
    })
    const entries = await unpackTar(gunzipSync(await readBlob('alice/tool', layer.digest)))
    expect(entries.map(({ header: { name, type } }) => `${type} ${name}`)).toEqual([
      'directory tool/',
      'file tool/SKILL.md',
      'file tool/scripts-notes.md',
      'directory tool/scripts/',
      'directory tool/scripts/read/',
      'file tool/scripts/read/all.py',
    ])
  })

  it('belongs to a version of the same skill', async () => {
    await node.api.publishSkill({ skillMd: toSkillMd('other'), version: '1.0.0' })
    const { digest, manifest } = await pull('alice/tool', '1.0.0')
    expect(await refuse(`/alice/other/blobs/${manifest.layers[0].digest}`)).toMatchObject({
      status: 404,
      code: 'BLOB_UNKNOWN',
    })
    expect(await refuse(`/alice/other/manifests/${digest}`)).toMatchObject({ status: 404, code: 'MANIFEST_UNKNOWN' })
    expect(await refuse(`/alice/tool/blobs/${digest}`)).toMatchObject({ status: 404, code: 'BLOB_UNKNOWN' })
  })

  it('counts as a download if it is a layer, once per pull', async () => {
    await node.api.publishSkill({ skillMd: toSkillMd('counted'), version: '1.0.0' })
    const counted = async () => (await node.api.getDownloads({ name: 'alice/counted' })).total
    const { digest, manifest } = await pull('alice/counted', '1.0.0')
    await pull('alice/counted', digest)
    const path = `/alice/counted/blobs/${manifest.layers[0].digest}`
    await readBlob('alice/counted', manifest.config.digest)
    const head = await ask(path, { method: 'HEAD' })
    const known = await ask(path, { headers: { 'if-none-match': head.headers.get('etag')! } })
    expect(known.status).toBe(304)
    expect(await counted()).toBe(0)
    await readBlob('alice/counted', manifest.layers[0].digest)
    await expect.poll(counted).toBe(1)
  })
})

describe('the tags of a skill', () => {
  it('are its versions and latest, in lexical order', async () => {
    expect(await listTags('/alice/tool', '')).toEqual({
      body: { name: 'alice/tool', tags: ['1.0.0', '1.10.0', '1.9.0', 'latest'] },
      link: null,
    })
  })

  it('are listed in parts', async () => {
    const first = await listTags('/alice/tool', '?n=3')
    expect(first).toEqual({
      body: { name: 'alice/tool', tags: ['1.0.0', '1.10.0', '1.9.0'] },
      link: '</v2/alice/tool/tags/list?n=3&last=1.9.0>; rel="next"',
    })
    expect(await listTags('/alice/tool', '?n=3&last=1.9.0')).toEqual({
      body: { name: 'alice/tool', tags: ['latest'] },
      link: null,
    })
    expect(await listTags('/alice/tool', '?n=4')).toMatchObject({ link: null })
    expect(await listTags('/alice/tool', '?last=1.1')).toMatchObject({ body: { tags: ['1.10.0', '1.9.0', 'latest'] } })
    expect(await listTags('/alice/tool', '?n=0')).toEqual({ body: { name: 'alice/tool', tags: [] }, link: null })
    for (const n of ['-1', 'x', '1e3', '']) {
      expect(await refuse(`/alice/tool/tags/list?n=${n}`)).toMatchObject({
        status: 400,
        code: 'PAGINATION_NUMBER_INVALID',
      })
    }
  })

  it('do not include yanked versions, which can still be pulled by version and digest', async () => {
    await node.api.publishSkill({ skillMd: toSkillMd('yanked'), version: '1.0.0' })
    await node.api.publishSkill({ skillMd: toSkillMd('yanked', 'Worse.'), version: '1.0.1' })
    const worse = await pull('alice/yanked', '1.0.1')
    await node.api.yankVersion({ name: 'alice/yanked', version: '1.0.1' })
    expect((await listTags('/alice/yanked')).body.tags).toEqual(['1.0.0', 'latest'])
    expect(await pull('alice/yanked', '1.0.1')).toEqual(worse)
    expect(await pull('alice/yanked', worse.digest)).toEqual(worse)
    await readBlob('alice/yanked', worse.manifest.layers[0].digest)
    await node.api.yankVersion({ name: 'alice/yanked', version: '1.0.0' })
    expect((await listTags('/alice/yanked')).body.tags).toEqual([])
    expect(await refuse('/alice/yanked/manifests/latest')).toMatchObject({ status: 404, code: 'MANIFEST_UNKNOWN' })
  })
})

describe('a private skill', () => {
  it('is a repository for its readers alone, with a key or the token of a share link as password', async () => {
    const { token } = await node.api.createShare({ name: 'alice/secret' })
    const { digest, manifest } = await pull('alice/secret', '1.0.0', as(node.key))
    const other = await node.createUser('bob')
    for (const path of [
      '/alice/secret/tags/list',
      '/alice/secret/manifests/latest',
      `/alice/secret/manifests/${digest}`,
      `/alice/secret/blobs/${manifest.config.digest}`,
      `/alice/secret/blobs/${manifest.layers[0].digest}`,
    ]) {
      const absent = path.replace('secret', 'absent')
      for (const [init, status] of [
        [undefined, 401],
        [basic('', ''), 401],
        [basic(other), 404],
      ] as const) {
        const refused = await refuse(path, init)
        expect(refused).toMatchObject({ status, code: status === 401 ? 'UNAUTHORIZED' : 'NAME_UNKNOWN' })
        expect(refused).toEqual(await refuse(absent, init))
      }
      for (const init of [as(node.key), basic(node.key), basic(token!)]) {
        const response = await ask(path, init)
        expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
      }
      expect(await refuse(path, basic('ssk_wrong'))).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
      expect(await refuse(absent, basic(token!))).toMatchObject({ status: 404, code: 'NAME_UNKNOWN' })
    }
  })

  it('is asked for with a password: without one, the answer has a challenge', async () => {
    for (const path of ['/', '/alice/secret/manifests/latest', '/alice/absent/manifests/latest']) {
      expect((await ask(path)).headers.get('www-authenticate')).toBe('Basic realm="Skillstead", charset="UTF-8"')
    }
  })

  it('is gone when it is deleted, its blobs too', async () => {
    await node.api.publishSkill({ skillMd: toSkillMd('gone'), version: '1.0.0' })
    const { digest, manifest } = await pull('alice/gone', 'latest')
    await readBlob('alice/gone', manifest.layers[0].digest)
    await node.api.deleteSkill({ name: 'alice/gone' })
    for (const path of ['manifests/latest', `manifests/${digest}`, `blobs/${manifest.layers[0].digest}`, 'tags/list']) {
      expect(await refuse(`/alice/gone/${path}`, as(node.key))).toMatchObject({ status: 404, code: 'NAME_UNKNOWN' })
    }
  })
})

describe('the registry', () => {
  it('answers a check of its version and of a password', async () => {
    expect(await refuse('/')).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    for (const init of [basic(node.key), as(node.key), basic('', '')]) {
      const response = await ask('/', init)
      expect([response.status, response.headers.get('docker-distribution-api-version')]).toEqual([200, 'registry/2.0'])
    }
    expect(await refuse('/', basic('ssk_wrong'))).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    expect(await refuse('/', basic('', 'alice'))).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })

  it('takes clients with an empty password for guests', async () => {
    expect((await ask('/alice/tool/manifests/latest', basic('', ''))).status).toBe(200)
    const { node: closed } = await startNode({ requireKey: true })
    const response = await fetch(`${closed.url}/v2/alice/pdf/manifests/latest`, basic('', ''))
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="Skillstead", charset="UTF-8"',
    ])
  })

  it('refuses pushes', async () => {
    for (const [method, path] of [
      ['POST', '/alice/tool/blobs/uploads/'],
      ['PATCH', '/alice/tool/blobs/uploads/1'],
      ['PUT', '/alice/tool/manifests/2.0.0'],
      ['DELETE', '/alice/tool/manifests/1.0.0'],
      ['DELETE', `/alice/tool/blobs/${unknown}`],
    ] as const) {
      expect(await refuse(path, { method, ...as(node.key) })).toEqual({
        status: 405,
        code: 'UNSUPPORTED',
        message: 'Artifacts here are read-only. Publish with `skillstead publish`.',
      })
    }
  })

  it.each([
    ['/alice/tool/manifests/9.9.9', 404, 'MANIFEST_UNKNOWN'],
    ['/alice/tool/manifests/v1.0.0', 404, 'MANIFEST_UNKNOWN'],
    [`/alice/tool/manifests/${unknown}`, 404, 'MANIFEST_UNKNOWN'],
    ['/alice/tool/manifests/sha256:abc', 400, 'DIGEST_INVALID'],
    [`/alice/tool/manifests/sha512:${'0'.repeat(128)}`, 400, 'DIGEST_INVALID'],
    [`/alice/tool/blobs/${unknown}`, 404, 'BLOB_UNKNOWN'],
    [`/alice/tool/blobs/${unknown.toUpperCase()}`, 400, 'DIGEST_INVALID'],
    ['/alice/tool/blobs/..%2f..%2f', 400, 'DIGEST_INVALID'],
    ['/alice/tool/manifests/%zz', 400, 'UNKNOWN'],
    ['/alice/tool/manifests/%00', 400, 'UNKNOWN'],
    ['/Alice/tool/manifests/latest', 401, 'UNAUTHORIZED'],
    [`/alice/${'a'.repeat(300)}/tags/list`, 401, 'UNAUTHORIZED'],
    [`/alice/tool/referrers/${unknown}`, 404, 'UNSUPPORTED'],
    ['/tool/manifests/latest', 404, 'UNSUPPORTED'],
    ['/a/b/c/manifests/latest', 404, 'UNSUPPORTED'],
    ['/_catalog', 404, 'UNSUPPORTED'],
  ] as const)('answers %s with %i and %s', async (path, status, code) => {
    expect(await refuse(path)).toMatchObject({ status, code })
  })
})
