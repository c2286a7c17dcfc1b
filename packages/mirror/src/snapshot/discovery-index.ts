import { RegistryError, firstIssueOnly, isSkillName, type PathReason, toFields } from '@skillstead/protocol'
import { selectListed } from '@skillstead/skill-format/archives'
import * as v from 'valibot'
import type { Refusal } from '../types.ts'

/** A skill in an index of version 0.2.0, which is one file to download. */
export interface ArtifactEntry {
  readonly name: string
  readonly description: string
  readonly artifact: { readonly type: 'skill-md' | 'archive'; readonly url: URL; readonly digest: string }
}

/** A skill in an index of version 0.1.0, which is a list of files without digests. */
export interface FilesEntry {
  readonly name: string
  readonly description: string
  readonly files: readonly { readonly path: string; readonly url: URL }[]
  /** Listed files that are no part of the skill, and are not fetched. */
  readonly omitted: readonly PathReason[]
  /** Listed files that are stored under another name. */
  readonly changed: readonly PathReason[]
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
 * Parses an index of version 0.2.0 or 0.1.0. Throws `upstream_failed` for any other value. Refuses single entries that
 * are invalid, point to another host, or repeat a name.
 */
export function readIndex(value: unknown, address: URL): SkillIndex {
  const index = v.safeParse(Index, value, firstIssueOnly)
  if (!index.success) throw notAnIndex(address, 'is not an index of skills, or has too many skills')
  const { $schema, skills } = index.output
  if ($schema !== undefined && $schema !== schema020) {
    throw notAnIndex(address, `is an index with the unknown schema ${$schema.slice(0, 100)}`)
  }
  const entries = new Map<string, IndexEntry>()
  const refused: Refusal[] = []
  for (const raw of skills) {
    const entry = $schema === undefined ? readFilesEntry(raw, address) : readArtifactEntry(raw, address)
    if (typeof entry === 'string') refused.push({ subject: toIndexSubject(raw), reason: 'malformed', detail: entry })
    else if (entries.has(entry.name)) {
      refused.push({
        subject: entry.name,
        reason: 'malformed',
        detail: 'The index has two skills with this name. Only the first one is imported.',
      })
    } else entries.set(entry.name, entry)
  }
  return { entries: [...entries.values()], refused }
}

function readArtifactEntry(raw: unknown, address: URL): ArtifactEntry | string {
  const parsed = v.safeParse(Artifact, raw, firstIssueOnly)
  if (!parsed.success) return toEntryProblem(parsed.issues[0])
  const { name, description, type, digest } = parsed.output
  const url = toSameOriginUrl(parsed.output.url, address)
  return url ? { name, description, artifact: { type, url, digest } } : elsewhere
}

function readFilesEntry(raw: unknown, address: URL): FilesEntry | string {
  const parsed = v.safeParse(Files, raw, firstIssueOnly)
  if (!parsed.success) return toEntryProblem(parsed.issues[0])
  const { name, description, files } = parsed.output
  const located = files.map((path) => {
    const isPlain = path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
    const encoded = path.split('/').map(encodeURIComponent).join('/')
    return { path, url: isPlain && path.isWellFormed() ? toSameOriginUrl(`${name}/${encoded}`, address) : undefined }
  })
  const wrong = located.find(({ url }) => url === undefined)
  if (wrong) return `The path '${wrong.path.slice(0, 100)}' leads out of the skill's folder.`
  if (!files.includes('SKILL.md')) return 'The entry lists no SKILL.md.'
  const { files: wanted, ...lists } = selectListed(located)
  return { name, description, files: wanted.map(({ path, url }) => ({ path, url: url! })), ...lists }
}

const elsewhere = 'The file is at another host than the index. Files of other hosts are not fetched.'

/** Resolves a URL in an index. Undefined for another origin, which could be in the operator's own network. */
function toSameOriginUrl(reference: string, address: URL): URL | undefined {
  const url = URL.canParse(reference, address) ? new URL(reference, address) : undefined
  return url?.origin === address.origin && !url.username && !url.password ? url : undefined
}

function toEntryProblem(issue: v.BaseIssue<unknown>): string {
  return `The entry is invalid: ${v.getDotPath(issue) ?? 'an object'} is wrong or missing.`
}

function toIndexSubject(raw: unknown): string {
  const { name } = toFields(raw)
  return typeof name === 'string' ? name.slice(0, 100).replaceAll('\0', '').toWellFormed() : 'an entry without a name'
}

function notAnIndex(address: URL, what: string): RegistryError {
  return new RegistryError('upstream_failed', `The response of ${address.origin} to ${address.pathname} ${what}.`)
}
