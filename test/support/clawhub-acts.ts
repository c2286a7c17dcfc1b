import { createHash } from 'node:crypto'
import { readArchive } from '@skillstead/skill-format/archives'

/** A node, by its URL. */
interface Served {
  readonly node: { readonly url: string }
}

interface Listed {
  readonly slug: string
  readonly reportId: string
  readonly reason: string
}

/** The fields of answers that tests look into. */
interface ClawhubAnswer {
  readonly results: readonly object[]
  readonly items: readonly Listed[]
  readonly nextCursor: string | null
  readonly transfers: readonly object[]
  readonly skill: { readonly createdAt: number }
  readonly latestVersion: { readonly version: string } | null
  readonly version: { readonly security: { readonly status: string } }
  readonly archive: { readonly downloadUrl: string }
  readonly provenance: { readonly log: { readonly treeSize: number } }
}

/** A user of the ClawHub gateway of a node. */
export interface ClawhubUser {
  ask(path: string, init?: RequestInit): Promise<Response>
  /** The JSON of an answer that must succeed. */
  read(path: string, init?: RequestInit): Promise<ClawhubAnswer>
  post(path: string, body?: object): Promise<Response>
  /** Announces a file; returns its URL and its ticket. */
  announce(bytes: Uint8Array, claimed?: { size?: number; sha256?: string }): Promise<Response>
  /** Announces and uploads files and publishes them. */
  publish(slug: string, files: Record<string, string | Uint8Array>, more?: object): Promise<Response>
}

export function asClawhubUser({ node }: Served, key?: string): ClawhubUser {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const ask: ClawhubUser['ask'] = (path, init) =>
    fetch(`${node.url}/clawhub/api/v1${path}`, {
      ...init,
      headers: { ...headers, ...(init?.headers as Record<string, string>) },
    })
  const post: ClawhubUser['post'] = (path, body = {}) =>
    ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const announce: ClawhubUser['announce'] = (bytes, claimed) =>
    post('/skills/-/upload-url', { path: 'x', size: bytes.byteLength, sha256: toHash(bytes), ...claimed })
  return {
    ask,
    post,
    announce,
    async read(path, init) {
      const response = await ask(path, init)
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
      return (await response.json()) as ClawhubAnswer
    },
    async publish(slug, files, more) {
      const uploaded: object[] = []
      for (const [path, content] of Object.entries(files)) {
        const bytes = typeof content === 'string' ? Buffer.from(content) : content
        const { uploadUrl, uploadTicket } = (await (await announce(bytes)).json()) as Record<string, string>
        const stored = await fetch(uploadUrl!, { method: 'POST', headers, body: bytes as Uint8Array<ArrayBuffer> })
        const { storageId } = (await stored.json()) as { storageId: string }
        uploaded.push({ path, size: bytes.byteLength, storageId, sha256: toHash(bytes), uploadTicket })
      }
      const given = { slug, displayName: 'A Skill', version: '1.0.0', changelog: '', acceptLicenseTerms: true }
      return post('/skills', { ...given, tags: ['latest'], files: uploaded, ...more })
    },
  }
}

function toHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The files of a zip of a skill by path. */
export async function readZipFiles(zip: Uint8Array): Promise<Record<string, Buffer>> {
  const { skillMd: document, files } = await readArchive(zip, 'zip')
  return Object.fromEntries([
    ['SKILL.md', Buffer.from(document)],
    ...files.map(({ path, bytes }) => [path, Buffer.from(bytes)] as const),
  ])
}

/** What the dashboard sends with the requests of a signed-in user. */
export async function toPageHeaders({ node }: Served, key: string): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${key}`, 'x-skillstead-session': '1' }
  const response = await fetch(`${node.url}/api/v1/session`, { method: 'POST', headers })
  const cookie = response.headers.get('set-cookie')!.split(';')[0]!
  return { cookie, origin: node.url, 'x-skillstead-session': '1' }
}
