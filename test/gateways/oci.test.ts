import { gunzipSync } from 'node:zlib'
import { listenNode } from '@skillstead/server'
import { unpackTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { as, openOci, toDigest, toSkillMd } from '../support/oci-acts.ts'

let oci: Awaited<ReturnType<typeof openOci>>
beforeAll(async () => {
  oci = await openOci()
})
afterAll(() => oci.node.close())

async function listTags(repository: string, query = '') {
  const response = await oci.ask(`${repository}/tags/list${query}`)
  return { body: (await response.json()) as { tags: string[] }, link: response.headers.get('link') }
}

describe('an OCI manifest', () => {
  it('describes a version, and has the same bytes in every release of Skillstead, since clients pin its digest', async () => {
    const { digest, manifest } = await oci.pull('alice/tool', '1.0.0')
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

  it('is found by the tag of its version, by the tag latest, and by its digest', async () => {
    const latest = await oci.pull('alice/tool', 'latest')
    expect(latest.manifest.annotations['org.opencontainers.image.version']).toBe('1.10.0')
    expect(await oci.pull('alice/tool', '1.10.0')).toEqual(latest)
    for (const version of ['1.0.0', '1.9.0', '1.10.0']) {
      const response = await oci.ask(`/alice/tool/manifests/${version}`)
      const bytes = new Uint8Array(await response.arrayBuffer())
      expect(response.headers.get('content-type')).toBe('application/vnd.oci.image.manifest.v1+json')
      expect(response.headers.get('docker-content-digest')).toBe(toDigest(bytes))
      const head = await oci.ask(`/alice/tool/manifests/${version}`, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length')]).toEqual([200, `${bytes.length}`])
      const pinned = await oci.ask(`/alice/tool/manifests/${toDigest(bytes)}`)
      expect(new Uint8Array(await pinned.arrayBuffer())).toEqual(bytes)
    }
  })

  it('is found by its digest even on a node that has not built the manifest yet', async () => {
    const { digest } = await oci.pull('alice/tool', '1.0.0')
    const { config } = (await oci.pull('alice/tool', '1.9.0')).manifest
    for (const path of [`manifests/${digest}`, `blobs/${config.digest}`]) {
      const fresh = await listenNode(oci.node.registry, { port: 0, rates: 'off' })
      onTestFinished(() => fresh.close())
      expect((await fetch(`${fresh.url}/v2/alice/tool/${path}`)).status).toBe(200)
    }
  })

  it('does not change if the metadata or the owner of the skill changes', async () => {
    await oci.node.api.publishSkill({ skillMd: toSkillMd('moved'), version: '1.0.0' })
    const before = await oci.pull('alice/moved', '1.0.0')
    await oci.node.api.publishSkill({ name: 'moved', description: 'Other', license: 'Apache-2.0', deprecated: true })
    expect(await oci.pull('alice/moved', '1.0.0')).toEqual(before)
    const carol = as(await oci.node.createUser('carol'))
    await oci.node.api.transferSkill({ name: 'alice/moved', newOwner: 'carol' })
    await oci.node.get('/skills/alice%2Fmoved/transfer/accept', { method: 'POST', ...carol })
    expect(await oci.pull('carol/moved', before.digest)).toEqual(before)
    expect(await oci.pull('alice/moved', before.digest)).toEqual(before)
  })
})

describe('an OCI blob', () => {
  it('is the config or the layer of a manifest', async () => {
    const { manifest } = await oci.pull('alice/tool', '1.0.0')
    const [layer] = manifest.layers
    for (const { digest, size } of [manifest.config, layer]) {
      const bytes = await oci.readBlob('alice/tool', digest)
      expect([toDigest(bytes), bytes.length]).toEqual([digest, size])
      const head = await oci.ask(`/alice/tool/blobs/${digest}`, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length')]).toEqual([200, `${size}`])
      expect(head.headers.get('docker-content-digest')).toBe(digest)
    }
    expect(JSON.parse(Buffer.from(await oci.readBlob('alice/tool', manifest.config.digest)).toString())).toEqual({
      schemaVersion: '1',
      name: 'tool',
      version: '1.0.0',
      description: 'What tool does',
      license: 'MIT',
      compatibility: 'Needs Python',
    })
    const entries = await unpackTar(gunzipSync(await oci.readBlob('alice/tool', layer.digest)))
    expect(entries.map(({ header: { name, type } }) => `${type} ${name}`)).toEqual([
      'directory tool/',
      'file tool/SKILL.md',
      'file tool/scripts-notes.md',
      'directory tool/scripts/',
      'directory tool/scripts/read/',
      'file tool/scripts/read/all.py',
    ])
  })

  it('is found only in the repository of the skill whose version contains it', async () => {
    await oci.node.api.publishSkill({ skillMd: toSkillMd('other'), version: '1.0.0' })
    const { digest, manifest } = await oci.pull('alice/tool', '1.0.0')
    expect(await oci.refuse(`/alice/other/blobs/${manifest.layers[0].digest}`)).toMatchObject({
      status: 404,
      code: 'BLOB_UNKNOWN',
    })
    expect(await oci.refuse(`/alice/other/manifests/${digest}`)).toMatchObject({
      status: 404,
      code: 'MANIFEST_UNKNOWN',
    })
    expect(await oci.refuse(`/alice/tool/blobs/${digest}`)).toMatchObject({ status: 404, code: 'BLOB_UNKNOWN' })
  })

  it('counts as one download per pull if the blob is a layer', async () => {
    await oci.node.api.publishSkill({ skillMd: toSkillMd('counted'), version: '1.0.0' })
    const counted = async () => (await oci.node.api.getDownloads({ name: 'alice/counted' })).total
    const { digest, manifest } = await oci.pull('alice/counted', '1.0.0')
    await oci.pull('alice/counted', digest)
    const path = `/alice/counted/blobs/${manifest.layers[0].digest}`
    await oci.readBlob('alice/counted', manifest.config.digest)
    const head = await oci.ask(path, { method: 'HEAD' })
    const known = await oci.ask(path, { headers: { 'if-none-match': head.headers.get('etag')! } })
    expect(known.status).toBe(304)
    expect(await counted()).toBe(0)
    await oci.readBlob('alice/counted', manifest.layers[0].digest)
    await expect.poll(counted).toBe(1)
  })
})

/** How many lists the node has built. */
async function readBuilt() {
  const text = await (await fetch(`${oci.node.node.url}/metrics`)).text()
  return Number(/^skillstead_lists_built_total (\d+)$/m.exec(text)![1])
}

describe('the tags of a skill', () => {
  it('are its versions and latest, in lexical order', async () => {
    expect(await listTags('/alice/tool', '')).toEqual({
      body: { name: 'alice/tool', tags: ['1.0.0', '1.10.0', '1.9.0', 'latest'] },
      link: null,
    })
  })

  it('are listed in pages', async () => {
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
      expect(await oci.refuse(`/alice/tool/tags/list?n=${n}`)).toMatchObject({
        status: 400,
        code: 'PAGINATION_NUMBER_INVALID',
      })
    }
  })

  it('are collected only once, even if clients request many different pages of the list', async () => {
    await listTags('/alice/tool', '')
    const before = await readBuilt()
    for (let n = 1; n < 20; n++) await listTags('/alice/tool', `?n=${n}&last=0.${'9'.repeat(n)}`)
    expect(await readBuilt()).toBe(before)
  })

  it('do not include yanked versions, which can still be pulled by version and digest', async () => {
    await oci.node.api.publishSkill({ skillMd: toSkillMd('yanked'), version: '1.0.0' })
    await oci.node.api.publishSkill({ skillMd: toSkillMd('yanked', 'Worse.'), version: '1.0.1' })
    const worse = await oci.pull('alice/yanked', '1.0.1')
    await oci.node.api.yankVersion({ name: 'alice/yanked', version: '1.0.1' })
    expect((await listTags('/alice/yanked')).body.tags).toEqual(['1.0.0', 'latest'])
    expect(await oci.pull('alice/yanked', '1.0.1')).toEqual(worse)
    expect(await oci.pull('alice/yanked', worse.digest)).toEqual(worse)
    await oci.readBlob('alice/yanked', worse.manifest.layers[0].digest)
    await oci.node.api.yankVersion({ name: 'alice/yanked', version: '1.0.0' })
    expect((await listTags('/alice/yanked')).body.tags).toEqual([])
    expect(await oci.refuse('/alice/yanked/manifests/latest')).toMatchObject({ status: 404, code: 'MANIFEST_UNKNOWN' })
  })
})
