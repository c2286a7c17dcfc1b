import { posix } from 'node:path'
import { ArchiveError, readArchive, toDigest } from '@skillstead/skill-format/archives'
import { RegistryError, limits, type PathReason } from '@skillstead/protocol'
import * as v from 'valibot'
import type { KnownReleases, KnownSkill, Refusal, Release, SnapshotBatch, SnapshotSource } from '../types.ts'
import type { UpstreamFetch } from '../upstream-fetch.ts'
import { Failures, fetchAnswer, fetchJson, type Answer, parseWebUrl } from './fetch-answer.ts'
import { readIndex, type ArtifactEntry, type FilesEntry, type IndexEntry } from './discovery-index.ts'
import { toFoundRelease } from './to-release.ts'

export interface DiscoverySourceOptions {
  /** The URL of a host, of a scope (a path at a host), or of the index itself. */
  readonly location: string
  readonly http: UpstreamFetch
  /**
   * The API key, used if guests may not read the index. With a key a node also lists private skills, so all skills are
   * then imported as private.
   */
  readonly apiKey?: string | undefined
  /** The owner of the imported skills, because an index names no owner. */
  readonly owner: string
  readonly wants: (skill: { owner: string; name: string }) => boolean
}

/**
 * The position after a sync: the ETag of the index and, for each skill by name, the digest of its file or the ETags of
 * its files.
 */
interface Cursor {
  readonly etag?: string | undefined
  readonly read: Record<string, string>
}

const StoredCursor = v.object({ etag: v.optional(v.string()), read: v.record(v.string(), v.string()) })

const indexBytesMax = 16 * 1024 * 1024
const artifactBytesMax = 24 * 1024 * 1024
const batchMax = 4
/**
 * Reasons of refusals that are checked again even if the index is unchanged, because a host may publish an index before
 * its files.
 */
const passingReasons: ReadonlySet<string> = new Set(['missing', 'altered'])
const closed = 'The skill is public on this node, but its host no longer shows it to guests.'
const indexPaths = ['/.well-known/agent-skills/index.json', '/.well-known/skills/index.json']

/** Reads the skills of a host that publishes a discovery index of version 0.2.0 or 0.1.0. */
export class DiscoverySource implements SnapshotSource {
  readonly #options: DiscoverySourceOptions
  /** The API key in use; undefined until the host refuses a request without a key. */
  #apiKey: string | undefined

  constructor(options: DiscoverySourceOptions) {
    this.#options = options
  }

  get requests(): number {
    return this.#options.http.requests
  }

  async *list(stored: unknown, known: KnownReleases): AsyncGenerator<SnapshotBatch> {
    const { http, owner, wants } = this.#options
    const cursor = readIndexCursor(stored)
    const { answer, url } = await this.#readFirstIndex(cursor.etag)
    if (!answer) return
    const index = readIndex(answer.value, url)
    const wanted = index.entries.filter(({ name }) => wants({ owner, name }))
    // Skills without digests are always requested, because only their files show whether they changed.
    const changed = wanted.filter(
      (entry) => !('artifact' in entry) || cursor.read[entry.name] !== entry.artifact.digest,
    )
    const read: Record<string, string> = Object.fromEntries(
      wanted.flatMap(({ name }) => (cursor.read[name] === undefined ? [] : [[name, cursor.read[name]]])),
    )
    yield { releases: [], refused: [...index.refused], unchanged: wanted.length - changed.length, cursor: { read } }
    let isMissing = false
    const failures = new Failures()
    for (let i = 0; i < changed.length; i += batchMax) {
      const batch = changed.slice(i, i + batchMax)
      const rest = changed.slice(i + batchMax)
      const here = await known.find(batch.map(({ name }) => `${owner}/${name}`))
      const { isPassing, ...found } = await this.#readBatch(batch, { here, failures, read })
      isMissing ||= isPassing
      yield { ...found, cursor: { read: { ...read } } satisfies Cursor, estimate: estimateEntries(http, rest) }
    }
    // Stores the ETag only if all files were read, and only for an index with digests: without digests, files may
    // change while the index does not.
    const isWhole = !isMissing && index.entries.every((entry) => 'artifact' in entry)
    yield { releases: [], cursor: { read, ...(isWhole && answer.etag && { etag: answer.etag }) } satisfies Cursor }
  }

  /** Reads the first index that exists at one of the possible URLs. */
  async #readFirstIndex(etag: string | undefined) {
    const { http, location, apiKey } = this.#options
    const addresses = toIndexAddresses(location)
    const askIndex = (url: URL) => fetchJson(http, { url, apiKey: this.#apiKey, etag, bytesMax: indexBytesMax })
    for (const url of addresses) {
      const answer = await askIndex(url).catch((error: unknown) => {
        if (!(error instanceof RegistryError)) throw error
        if (error.code === 'not_found') return null
        if (error.code !== 'unauthorized' || this.#apiKey !== undefined || apiKey === undefined) throw error
        this.#apiKey = apiKey
        return askIndex(url)
      })
      if (answer !== null) return { answer, url }
    }
    // Not `not_found`: a caller who requests a single skill must not be told that the skill does not exist.
    const { origin, pathname } = addresses[0]!
    throw new RegistryError('upstream_failed', `${origin} has no index of skills at ${pathname}.`)
  }

  /** Reads the skills one by one, and stores their marks in `read`. `isPassing`: the next sync checks a skill again. */
  async #readBatch(batch: readonly IndexEntry[], { here, failures, read }: BatchState) {
    const { owner } = this.#options
    const releases: Release[] = []
    const refused: Refusal[] = []
    const omitted: PathReason[] = []
    const changed: PathReason[] = []
    let [unchanged, isPassing] = [0, false]
    for (const entry of batch) {
      const { name, description } = entry
      const found = await this.#readEntry(entry, read[name], failures)
      if (found.mark !== undefined) read[name] = found.mark
      if (found.refused) refused.push(found.refused)
      omitted.push(...toNamed(name, found.omitted))
      changed.push(...toNamed(name, found.changed))
      if (found.refused && passingReasons.has(found.refused.reason)) isPassing = true
      const there = here.get(`${owner}/${name}`)
      const release = found.files && toFoundRelease({ owner, name, description, files: found.files }, there)
      if (!release) unchanged += found.refused ? 0 : 1
      else if (this.#apiKey === undefined) releases.push(release)
      else if (there && !there.isPrivate) refused.push(refuseEntry(owner, entry, 'missing', closed))
      else releases.push({ ...release, visibility: 'private' })
    }
    return { releases, refused, omitted, changed, unchanged, isPassing }
  }

  async #readEntry(entry: IndexEntry, before: string | undefined, failures: Failures): Promise<ReadEntry> {
    const { owner } = this.#options
    try {
      const access = { ...this.#options, apiKey: this.#apiKey }
      const read = await ('artifact' in entry ? fetchArtifact(access, entry) : fetchEntryFiles(access, entry, before))
      failures.succeed()
      return read
    } catch (error) {
      if (error instanceof ArchiveError) {
        // With the digest as mark, the invalid file is not fetched again until its digest changes.
        const mark = 'artifact' in entry ? { mark: entry.artifact.digest } : {}
        return { refused: refuseEntry(owner, entry, 'invalid', error.message), ...mark }
      }
      return { refused: refuseEntry(owner, entry, 'missing', failures.take(error).message) }
    }
  }
}

interface BatchState {
  /** The stored skills of the batch, by full name. */
  readonly here: ReadonlyMap<string, KnownSkill>
  readonly failures: Failures
  readonly read: Record<string, string>
}

/** The files of a skill, if they changed. The next sync compares `mark` with the index or the files. */
interface ReadEntry {
  readonly files?: Release['files']
  readonly mark?: string
  readonly refused?: Refusal
  readonly omitted?: readonly PathReason[]
  readonly changed?: readonly PathReason[]
}

async function fetchArtifact(
  { http, apiKey, owner }: DiscoverySourceOptions,
  entry: ArtifactEntry,
): Promise<ReadEntry> {
  const { url, type, digest } = entry.artifact
  const { bytes } = (await fetchAnswer(http, { url, apiKey, bytesMax: artifactBytesMax }))!
  const actual = toDigest(bytes)
  if (actual !== digest) {
    const detail = `The file at ${url.pathname} has the digest ${actual}, but the index states ${digest}.`
    return { refused: refuseEntry(owner, entry, 'altered', detail) }
  }
  if (type === 'skill-md') return { files: [{ path: 'SKILL.md', bytes }], mark: digest }
  const { skillMd, files, omitted, changed } = await readArchive(
    bytes,
    bytes[0] === 0x1f && bytes[1] === 0x8b ? 'tar.gz' : 'zip',
  )
  return { files: [{ path: 'SKILL.md', bytes: skillMd }, ...files], mark: digest, omitted, changed }
}

/** Fetches the files of a skill one by one. If one of them changed since the last sync, fetches all of them. */
async function fetchEntryFiles(
  { http, apiKey, owner }: DiscoverySourceOptions,
  entry: FilesEntry,
  before: string | undefined,
): Promise<ReadEntry> {
  const etags = readEtags(before)
  const isSameList = Object.keys(etags).length === entry.files.length
  const fresh: Record<string, string> = {}
  const answers = new Map<string, Uint8Array>()
  let size = 0
  const take = (path: string, { bytes }: Answer): boolean => {
    answers.set(path, bytes)
    size += bytes.length
    return size <= limits.versionBytesMax
  }
  const tooLarge = refuseEntry(owner, entry, 'invalid', 'The files together exceed the maximum size of a version.')
  for (const { path, url } of entry.files) {
    const etag = isSameList ? etags[path] : undefined
    const answer = await fetchAnswer(http, { url, apiKey, etag, bytesMax: limits.fileBytesMax })
    if (etag !== undefined && !answer) fresh[path] = etag
    if (!answer) continue
    if (answer.etag) fresh[path] = answer.etag
    if (!take(path, answer)) return { refused: tooLarge }
  }
  if (answers.size === 0) return {}
  for (const { path, url } of entry.files) {
    if (answers.has(path)) continue
    const answer = (await fetchAnswer(http, { url, apiKey, bytesMax: limits.fileBytesMax }))!
    if (!take(path, answer)) return { refused: tooLarge }
  }
  const files = [...answers].map(([path, bytes]) => ({ path, bytes }))
  const isKnown = Object.keys(fresh).length === entry.files.length
  return { files, omitted: entry.omitted, changed: entry.changed, ...(isKnown && { mark: JSON.stringify(fresh) }) }
}

/** The ETags that the files had at the last sync, by path; empty if the index was of version 0.2.0 then. */
function readEtags(mark: string | undefined): Record<string, string> {
  return mark?.startsWith('{') ? JSON.parse(mark) : {}
}

/** The possible URLs of the index: the location, or two URLs below a scope, the second for an index of version 0.1.0. */
function toIndexAddresses(location: string): URL[] {
  const url = parseWebUrl(location)
  if (url.pathname.endsWith('.json')) return [url]
  const scope = url.pathname.replace(/\/(?:\.well-known(?:\/.*)?)?$/, '')
  return indexPaths.map((path) => new URL(`${url.origin}${scope}${path}`))
}

function readIndexCursor(stored: unknown): Cursor {
  const parsed = v.safeParse(StoredCursor, stored)
  return parsed.success ? parsed.output : { read: {} }
}

function toNamed(name: string, list: readonly PathReason[] = []): PathReason[] {
  return list.map(({ path, reason }) => ({ path: posix.join(name, path), reason }))
}

function estimateEntries(http: UpstreamFetch, rest: readonly IndexEntry[]) {
  const requests = rest.reduce((sum, entry) => sum + ('artifact' in entry ? 1 : entry.files.length), 0)
  return { left: rest.length, secondsLeft: http.estimateSeconds(requests) }
}

function refuseEntry(owner: string, { name }: IndexEntry, reason: string, detail: string): Refusal {
  return { subject: `${owner}/${name}`, reason, detail }
}
