import { createHash } from 'node:crypto'
import { readArchiveFiles } from '@skillstead/skill-format/archives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openNode } from '../support/server-harness.ts'

interface Versions {
  readonly package: string
  readonly versions: readonly {
    readonly version: string
    readonly digest: string
    readonly published_at: string
    readonly size_bytes: number
  }[]
}

const toSkillMd = (name: string, body = 'Reads.') =>
  `---\nname: ${name}\ndescription: What ${name} does\n---\n${body}\n`

let node: Awaited<ReturnType<typeof openNode>>
const ask = (path: string, init?: RequestInit) => fetch(`${node.node.url}/apm/v1/packages/${path}`, init)
const list = async (name: string) => (await (await ask(`${name}/versions`)).json()) as Versions
const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const basic = (password: string) => ({
  headers: { authorization: `Basic ${Buffer.from(`any:${password}`).toString('base64')}` },
})

beforeAll(async () => {
  node = await openNode()
  const files = [
    {
      path: 'apm.yml',
      content: 'name: other\nversion: 9.9.9\ndependencies:\n  mcp: [evil]\nscripts:\n  start: evil\n',
    },
    { path: 'docs/apm.yml', content: 'kept' },
  ]
  await node.api.publishSkill({ skillMd: toSkillMd('tool'), version: '1.0.0', files })
  await node.api.publishSkill({ skillMd: toSkillMd('tool', 'Reads more.'), version: '1.1.0' })
})
afterAll(() => node.close())

describe('the versions of a package', () => {
  it('are listed in snake case, with the digest and size of each archive', async () => {
    const { package: name, versions } = await list('alice/tool')
    expect([name, versions.map(({ version }) => version)]).toEqual(['alice/tool', ['1.1.0', '1.0.0']])
    for (const { version, digest, published_at, size_bytes, ...rest } of versions) {
      expect(rest).toEqual({})
      expect(new Date(published_at).toISOString()).toBe(published_at)
      const download = await ask(`alice/tool/versions/${version}/download`)
      expect(download.headers.get('content-type')).toBe('application/zip')
      const bytes = new Uint8Array(await download.arrayBuffer())
      expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(digest)
      expect(bytes.length).toBe(size_bytes)
    }
  })

  it('have archives with the same bytes in every release, since lock files contain their digest', async () => {
    const { versions } = await list('alice/tool')
    expect(versions[1]!.digest).toBe('sha256:eb2e757c1b50ba1bad34d072b7901c6d8727b588e94136d9a472fa126de94232')
  })

  it('have archives with a generated manifest', async () => {
    const download = await ask('alice/tool/versions/1.0.0/download')
    const files = await readArchiveFiles(new Uint8Array(await download.arrayBuffer()), 'zip')
    expect(Object.fromEntries(files.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)]))).toEqual({
      'SKILL.md': toSkillMd('tool'),
      'apm.yml': 'name: "tool"\nversion: "1.0.0"\n',
      'docs/apm.yml': 'kept',
    })
  })

  it('are not listed when yanked, but can be downloaded', async () => {
    await node.api.publishSkill({ skillMd: toSkillMd('yanked'), version: '1.0.0' })
    await node.api.yankVersion({ name: 'alice/yanked', version: '1.0.0' })
    expect(await list('alice/yanked')).toEqual({ package: 'alice/yanked', versions: [] })
    expect((await ask('alice/yanked/versions/1.0.0/download')).status).toBe(200)
  })

  it('of a private skill are sent only to its readers, who authenticate with Bearer or Basic', async () => {
    await node.api.publishSkill({ skillMd: toSkillMd('secret'), version: '1.0.0', visibility: 'private' })
    const { token } = await node.api.createShare({ name: 'alice/secret' })
    const other = await node.createUser('bob')
    for (const path of ['alice/secret/versions', 'alice/secret/versions/1.0.0/download']) {
      const absent = await (await ask(path.replace('secret', 'absent'))).json()
      for (const init of [undefined, as(other), basic(other)]) {
        const response = await ask(path, init)
        expect(response.status).toBe(404)
        const { detail } = (await response.json()) as { detail: string }
        expect(detail.replace('secret', 'absent')).toBe((absent as { detail: string }).detail)
      }
      for (const init of [as(node.key), basic(node.key), basic(token!)]) {
        expect((await ask(path, init)).status).toBe(200)
      }
      expect((await ask(path, basic('ssk_wrong'))).status).toBe(401)
    }
  })
})

describe('an error of the APM registry', () => {
  it.each([
    'alice/absent/versions',
    'unknown-user/tool/versions',
    'alice%2Ftool/versions',
    'alice/..%2ftool/versions',
    'alice/tool/versions/1.0/download',
    'alice/tool/versions/9.9.9/download',
    'alice/tool/versions/..%2f1.0.0/download',
  ])('is a problem document for %s', async (path) => {
    const response = await ask(path)
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    expect(await response.json()).toMatchObject({ status: 404, title: expect.any(String) })
  })

  it('explains how to publish if a client tries to publish', async () => {
    const body = new Uint8Array(100_000)
    const response = await ask('alice/tool/versions/2.0.0', { method: 'PUT', body, ...as(node.key) })
    expect(response.status).toBe(501)
    expect(await response.json()).toMatchObject({
      detail: 'Packages here are read-only. Publish with `skillstead publish`.',
    })
    expect((await list('alice/tool')).versions).toHaveLength(2)
  })
})
