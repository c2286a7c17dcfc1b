import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { as, basic, openOci, toSkillMd, unknownDigest } from '../support/oci-acts.ts'
import { startNode } from '../support/server-harness.ts'

let oci: Awaited<ReturnType<typeof openOci>>
beforeAll(async () => {
  oci = await openOci()
})
afterAll(() => oci.node.close())

describe('a private skill', () => {
  it('is a repository only for its readers, with a key or the token of a share link as password', async () => {
    const { token } = await oci.node.api.createShare({ name: 'alice/secret' })
    const { digest, manifest } = await oci.pull('alice/secret', '1.0.0', as(oci.node.key))
    const other = await oci.node.createUser('bob')
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
        const refused = await oci.refuse(path, init)
        expect(refused).toMatchObject({ status, code: status === 401 ? 'UNAUTHORIZED' : 'NAME_UNKNOWN' })
        expect(refused).toEqual(await oci.refuse(absent, init))
      }
      for (const init of [as(oci.node.key), basic(oci.node.key), basic(token!)]) {
        const response = await oci.ask(path, init)
        expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
      }
      expect(await oci.refuse(path, basic('ssk_wrong'))).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
      expect(await oci.refuse(absent, basic(token!))).toMatchObject({ status: 404, code: 'NAME_UNKNOWN' })
    }
  })

  it('requires a password: without a password, the response has a challenge', async () => {
    for (const path of ['/', '/alice/secret/manifests/latest', '/alice/absent/manifests/latest']) {
      expect((await oci.ask(path)).headers.get('www-authenticate')).toBe('Basic realm="Skillstead", charset="UTF-8"')
    }
  })

  it('has no manifest, blobs or tags after its deletion', async () => {
    await oci.node.api.publishSkill({ skillMd: toSkillMd('gone'), version: '1.0.0' })
    const { digest, manifest } = await oci.pull('alice/gone', 'latest')
    await oci.readBlob('alice/gone', manifest.layers[0].digest)
    await oci.node.api.deleteSkill({ name: 'alice/gone' })
    for (const path of ['manifests/latest', `manifests/${digest}`, `blobs/${manifest.layers[0].digest}`, 'tags/list']) {
      expect(await oci.refuse(`/alice/gone/${path}`, as(oci.node.key))).toMatchObject({
        status: 404,
        code: 'NAME_UNKNOWN',
      })
    }
  })
})

describe('the OCI registry', () => {
  it('responds to a check of its version and of a password', async () => {
    expect(await oci.refuse('/')).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    for (const init of [basic(oci.node.key), as(oci.node.key), basic('', '')]) {
      const response = await oci.ask('/', init)
      expect([response.status, response.headers.get('docker-distribution-api-version')]).toEqual([200, 'registry/2.0'])
    }
    expect(await oci.refuse('/', basic('ssk_wrong'))).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    expect(await oci.refuse('/', basic('', 'alice'))).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })

  it('treats clients with an empty password as guests', async () => {
    expect((await oci.ask('/alice/tool/manifests/latest', basic('', ''))).status).toBe(200)
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
      ['DELETE', `/alice/tool/blobs/${unknownDigest}`],
    ] as const) {
      expect(await oci.refuse(path, { method, ...as(oci.node.key) })).toEqual({
        status: 405,
        code: 'UNSUPPORTED',
        message: 'Artifacts here are read-only. Publish with `skillstead publish`.',
      })
    }
  })

  it.each([
    ['/alice/tool/manifests/9.9.9', 404, 'MANIFEST_UNKNOWN'],
    ['/alice/tool/manifests/v1.0.0', 404, 'MANIFEST_UNKNOWN'],
    [`/alice/tool/manifests/${unknownDigest}`, 404, 'MANIFEST_UNKNOWN'],
    ['/alice/tool/manifests/sha256:abc', 400, 'DIGEST_INVALID'],
    [`/alice/tool/manifests/sha512:${'0'.repeat(128)}`, 400, 'DIGEST_INVALID'],
    [`/alice/tool/blobs/${unknownDigest}`, 404, 'BLOB_UNKNOWN'],
    [`/alice/tool/blobs/${unknownDigest.toUpperCase()}`, 400, 'DIGEST_INVALID'],
    ['/alice/tool/blobs/..%2f..%2f', 400, 'DIGEST_INVALID'],
    ['/alice/tool/manifests/%zz', 400, 'UNKNOWN'],
    ['/alice/tool/manifests/%00', 400, 'UNKNOWN'],
    ['/Alice/tool/manifests/latest', 401, 'UNAUTHORIZED'],
    [`/alice/${'a'.repeat(300)}/tags/list`, 401, 'UNAUTHORIZED'],
    [`/alice/tool/referrers/${unknownDigest}`, 404, 'UNSUPPORTED'],
    ['/tool/manifests/latest', 404, 'UNSUPPORTED'],
    ['/a/b/c/manifests/latest', 404, 'UNSUPPORTED'],
    ['/_catalog', 404, 'UNSUPPORTED'],
  ] as const)('returns for %s the status %i and the code %s', async (path, status, code) => {
    expect(await oci.refuse(path)).toMatchObject({ status, code })
  })
})
