import { RegistryError, firstIssueOnly, isSkillName } from '@skillstead/protocol'
import * as v from 'valibot'
import type { Refusal } from '../types.ts'

/** A skill of an index, version 0.2.0: one file to download. */
export interface ArtifactEntry {
  readonly name: string
  readonly description: string
  readonly artifact: { readonly type: 'skill-md' | 'archive'; readonly url: URL; readonly digest: string }
}

/** A skill of an index, version 0.1.0: its files one by one, and no digests. */
export interface FilesEntry {
  readonly name: string
  readonly description: string
  readonly files: readonly { readonly path: string; readonly url: URL }[]
}

export type IndexEntry = ArtifactEntry | FilesEntry

export interface SkillIndex {
  readonly entries: readonly IndexEntry[]
  readonly refused: readonly Refusal[]
}

const schema020 = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'
const entriesMax = 20_000
const filesMax = 512

const Index = v.object({
  $schema: v.optional(v.string()),
  skills: v.pipe(v.array(v.unknown()), v.maxLength(entriesMax)),
})
const Name = v.pipe(v.string(), v.check(isSkillName))
const Artifact = v.object({
  name: Name,
  type: v.picklist(['skill-md', 'archive']),
  description: v.optional(v.string(), ''),
  url: v.string(),
  digest: v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
})
const Files = v.object({
  name: Name,
  description: v.optional(v.string(), ''),
  files: v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(255))), v.maxLength(filesMax)), [
    'SKILL.md',
  ]),
})

/**
 * Reads an index of the versions 0.2.0 and 0.1.0. Throws `upstream_failed` for what is none; single entries that are wrong,
 * lead to another host, or have the name of one before are refused.
 */
export function readIndex(value: unknown, address: URL): SkillIndex {
  const index = v.safeParse(Index, value, firstIssueOnly)
  if (!index.success) throw notAnIndex(address, 'is no index of skills, or one of too many')
  const { $schema, skills } = index.output
  if ($schema !== undefined && $schema !== schema020) {
    throw notAnIndex(address, `is an index of the schema ${$schema.slice(0, 100)}, which is not known`)
  }
  const entries = new Map<string, IndexEntry>()
  const refused: Refusal[] = []
  for (const raw of skills) {
    const entry = $schema === undefined ? readFiles(raw, address) : readArtifact(raw, address)
    if (typeof entry === 'string') refused.push({ subject: toSubject(raw), reason: 'malformed', detail: entry })
    else if (entries.has(entry.name)) {
      refused.push({
        subject: entry.name,
        reason: 'malformed',
        detail: 'The index has two skills of this name; the first is taken.',
      })
    } else entries.set(entry.name, entry)
  }
  return { entries: [...entries.values()], refused }
}

function readArtifact(raw: unknown, address: URL): ArtifactEntry | string {
  const parsed = v.safeParse(Artifact, raw, firstIssueOnly)
  if (!parsed.success) return toIssue(parsed.issues[0])
  const { name, description, type, digest } = parsed.output
  const url = toUrl(parsed.output.url, address)
  return url ? { name, description, artifact: { type, url, digest } } : elsewhere
}

function readFiles(raw: unknown, address: URL): FilesEntry | string {
  const parsed = v.safeParse(Files, raw, firstIssueOnly)
  if (!parsed.success) return toIssue(parsed.issues[0])
  const { name, description, files } = parsed.output
  const located = files.map((path) => {
    const isPlain = path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
    const encoded = path.split('/').map(encodeURIComponent).join('/')
    return { path, url: isPlain && path.isWellFormed() ? toUrl(`${name}/${encoded}`, address) : undefined }
  })
  const wrong = located.find(({ url }) => url === undefined)
  if (wrong) return `The file '${wrong.path.slice(0, 100)}' has a path that leads elsewhere.`
  if (!files.includes('SKILL.md')) return 'It lists no SKILL.md.'
  return { name, description, files: located.map(({ path, url }) => ({ path, url: url! })) }
}

const elsewhere = 'Its file lies at another host than the index, where nothing is fetched from.'

/** Only of the place that the operator chose: an index could point into his own network. */
function toUrl(reference: string, address: URL): URL | undefined {
  const url = URL.canParse(reference, address) ? new URL(reference, address) : undefined
  return url?.origin === address.origin && !url.username && !url.password ? url : undefined
}

function toIssue(issue: v.BaseIssue<unknown>): string {
  return `It is no entry of an index: ${v.getDotPath(issue) ?? 'it is no object'} is wrong or missing.`
}

function toSubject(raw: unknown): string {
  const { name } = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<string, unknown>
  return typeof name === 'string' ? name.slice(0, 100).replaceAll('\0', '').toWellFormed() : 'an entry without a name'
}

function notAnIndex(address: URL, what: string): RegistryError {
  return new RegistryError('upstream_failed', `What ${address.origin} answers at ${address.pathname} ${what}.`)
}
