import { createHash } from 'node:crypto'
import { systemClock } from '@skillstead/core'
import { expect } from 'vitest'
import { openNode } from './server-harness.ts'

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

export const toSkillMd = (name: string, body = 'Reads.', more = '') =>
  `---\nname: ${name}\ndescription: What ${name} does\n${more}---\n${body}\n`

/** A digest of no blob. */
export const unknownDigest = `sha256:${'0'.repeat(64)}`

export const toDigest = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

export const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

export const basic = (password: string, user = 'any') => ({
  headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
})

/** A node with three versions of `alice/tool` and the private skill `alice/secret`, and a client of its OCI registry. */
export async function openOci() {
  const node = await openNode({}, undefined, { clock: { ...systemClock, now: () => Date.UTC(2026, 0, 1) } })
  const files = [
    { path: 'scripts/read/all.py', content: 'print()\n' },
    { path: 'scripts-notes.md', content: 'Notes.\n' },
  ]
  const skillMd = toSkillMd('tool', 'Reads.', 'license: MIT\ncompatibility: Needs Python\nallowed-tools: [Read]\n')
  await node.api.publishSkill({ skillMd, version: '1.0.0', files })
  await node.api.publishSkill({ skillMd: toSkillMd('tool', 'Reads more.'), version: '1.10.0' })
  await node.api.publishSkill({ skillMd: toSkillMd('tool', 'Reads all.'), version: '1.9.0' })
  await node.api.publishSkill({ skillMd: toSkillMd('secret'), version: '1.0.0', visibility: 'private' })

  const ask = (path: string, init?: RequestInit) => fetch(`${node.node.url}/v2${path}`, { redirect: 'manual', ...init })
  return {
    node,
    ask,

    async pull(repository: string, reference: string, init?: RequestInit) {
      const response = await ask(`/${repository}/manifests/${reference}`, init)
      expect(response.status).toBe(200)
      const digest = response.headers.get('docker-content-digest')!
      return { digest, manifest: (await response.json()) as Manifest }
    },

    async readBlob(repository: string, digest: string): Promise<Uint8Array> {
      const response = await ask(`/${repository}/blobs/${digest}`)
      expect(response.status).toBe(200)
      return new Uint8Array(await response.arrayBuffer())
    },

    /** The status, the code and the message of an error. */
    async refuse(path: string, init?: RequestInit) {
      const response = await ask(path, init)
      expect(response.headers.get('docker-distribution-api-version')).toBe('registry/2.0')
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      const { errors } = (await response.json()) as { errors: readonly [{ code: string; message: string }] }
      expect(errors).toHaveLength(1)
      return { status: response.status, ...errors[0] }
    },
  }
}
