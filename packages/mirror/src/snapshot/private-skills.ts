import { createClient } from '@skillstead/client'
import { ArchiveError, readArchiveFiles } from '@skillstead/skill-format/archives'
import {
  RegistryError,
  compareVersions,
  limits,
  type RegistryApi,
  type SkillDetails,
  toShortName,
  toErrorText,
} from '@skillstead/protocol'
import type { KnownSkill, Refusal, Release, SnapshotSource } from '../types.ts'
import { patience, type UpstreamFetch } from '../upstream-fetch.ts'
import { isAboutOne } from './fetch-answer.ts'

export interface PrivateSkillsOptions {
  readonly location: string
  readonly http: UpstreamFetch
  readonly apiKey: string
  /** The user to whom the API key belongs. */
  readonly username: string
  readonly wants: (skill: { owner: string; name: string }) => boolean
}

const skillsMax = 100_000

/**
 * Reads the private skills of a user at a Skillstead node, with the user's API key, because the node's log does not
 * contain them. Keeps version numbers, dates and digests.
 */
export function createPrivateSkills({ location, http, apiKey, username, wants }: PrivateSkillsOptions): SnapshotSource {
  const options = { baseUrl: location, apiKey, fetch: http.fetch, client: 'skillstead-mirror', counts: false } as const
  const api = createClient({ ...options, ...patience })
  return {
    async *list(cursor, known) {
      for await (const names of listPrivateNames(api, username)) {
        const wanted = names.filter((fullName) => wants({ owner: username, name: toShortName(fullName) }))
        const here = await known.find(wanted)
        for (const fullName of wanted) {
          const there = here.get(fullName)
          // Public skills are imported from the log. A skill that the log has withdrawn is read, because it may have
          // become private.
          if (there && !there.isPrivate && !there.isWithdrawn) continue
          for await (const batch of readPrivateSkill(api, fullName, there)) yield { ...batch, cursor }
        }
      }
    },
    get requests() {
      return http.requests
    },
  }
}

async function* listPrivateNames(api: RegistryApi, owner: string): AsyncGenerator<string[]> {
  for (let page = 1; page * limits.pageSizeMax <= skillsMax; page++) {
    const { skills, totalPages } = await api.searchSkills({ owner, sort: 'recent', page, limit: limits.pageSizeMax })
    yield skills.map(({ fullName }) => fullName).filter((fullName) => fullName.startsWith(`${owner}/`))
    if (page >= totalPages) return
  }
}

/** Yields the versions of a skill one at a time, because all of them together may not fit into memory. */
async function* readPrivateSkill(
  api: RegistryApi,
  fullName: string,
  there: KnownSkill | undefined,
): AsyncGenerator<{ releases: Release[]; refused?: Refusal[]; unchanged?: number }> {
  try {
    const details = await api.getSkill({ name: fullName })
    const isMeant = details.fullName === fullName && fullName.startsWith(`${details.author.username}/`)
    if (!isMeant || details.visibility !== 'private') return
    const recalls = await findChangedRecalls(api, details, there)
    const found = findChanged(details, there)
    const changed = recalls && found.length === 0 ? details.versions.slice(0, 1) : found
    if (changed.length === 0) yield { releases: [], unchanged: 1 }
    for (const { version } of changed)
      yield { releases: [{ ...(await readPrivateVersion(api, details, version)), recalls }] }
  } catch (error) {
    const reason = toSkillReason(error)
    if (!reason) throw error
    yield { releases: [], refused: [{ subject: fullName, reason, detail: toErrorText(error) }] }
  }
}

/**
 * The versions to read, oldest first: those that are not stored or whose yank changed. The latest version is also read
 * to update the skill's deprecation, and the newest version to make a withdrawn skill private.
 */
function findChanged({ versions, deprecated, latestVersion }: SkillDetails, there: KnownSkill | undefined) {
  const sorted = versions.toSorted((a, b) => compareVersions(a.version, b.version))
  const newest = sorted.at(-1)?.version
  return sorted.filter(({ version, yanked }) => {
    if (there?.versions.get(version)?.yanked !== yanked) return true
    return (version === newest && there.isWithdrawn) || (version === latestVersion && there.deprecated !== deprecated)
  })
}

/** The active recalls if they changed. A recall that covers no version yet is read with the first that it covers. */
async function findChangedRecalls(
  api: RegistryApi,
  { fullName: name, versions }: SkillDetails,
  there: KnownSkill | undefined,
) {
  const known = there?.recallIds ?? []
  if (known.length === 0 && versions.every(({ recalled }) => recalled === undefined)) return undefined
  const active = (await api.listRecalls({ name })).recalls.filter(({ endedAt }) => endedAt === undefined)
  return active.length === known.length && active.every(({ id }) => known.includes(id)) ? undefined : active
}

async function readPrivateVersion(api: RegistryApi, details: SkillDetails, version: string): Promise<Release> {
  const { fullName: name, author, displayName, category, license, keywords, repository } = details
  const { body } = await api.getArchive({ name, version, allowRecalled: true })
  // All files are taken as they are: the node has decided which files belong to the version, and its digest must stay.
  const files = await readArchiveFiles(body as Uint8Array, 'zip')
  const { digest, publishedAt, changelog, yanked } = details.versions.find((one) => one.version === version)!
  const isLatest = version === details.latestVersion
  return {
    owner: author.username,
    name: toShortName(name),
    version,
    publishedAt: Date.parse(publishedAt),
    files,
    digest,
    changelog,
    yanked,
    visibility: 'private',
    skillId: details.id,
    publisher: { id: author.id, username: author.username },
    deprecated: details.deprecated,
    deprecationMessage: details.deprecationMessage,
    repository,
    // Only for the latest version; older versions take these fields from their own frontmatter.
    ...(isLatest && { displayName, category, license, keywords }),
  }
}

function toSkillReason(error: unknown): string | undefined {
  if (error instanceof ArchiveError || error instanceof TypeError || error instanceof RangeError) return 'malformed'
  return isAboutOne(error) && error instanceof RegistryError ? 'missing' : undefined
}
