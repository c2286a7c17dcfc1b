import { isSliceOver, nextSlice } from '@skillstead/core/internal'
import { isOfferedVersion, RegistryError, type Content, type RegistryApi, orUndefined } from '@skillstead/protocol'
import { apiOf } from '../scopes/skill-archives.ts'
import { toCacheControl, type Answer } from '../gateway.ts'
import { toFingerprint } from './fingerprint.ts'
import { readVersionQuery } from './find-routes.ts'
import { type Asked, baseOf, nameIn, type RouteTable, toClawhubAnswer, toClawhubName } from './route-table.ts'
import { readListedVersions } from './version-list.ts'

/** Routes for the files of a skill, which clients read to install or update the skill. */
export const fetchRoutes: RouteTable = {
  '/api/v1/skills/:slug/file': { GET: sendSkillFile },
  '/api/v1/skills/:slug/install': { GET: resolveInstall },
  '/api/v1/download': { GET: downloadSkill },
  '/api/v1/resolve': { GET: resolveFingerprint },
}

async function sendSkillFile(asked: Asked) {
  const { api, query } = asked
  const [path, version] = [query.get('path') ?? '', readVersionQuery(query)]
  return toFileAnswer(asked, await api.getFile({ name: nameIn(asked), path, version }))
}

/** Answers with the download URL of the latest version, with owner and version, as programs use it unchanged. */
async function resolveInstall(asked: Asked) {
  const { name: slug, author, latestVersion: version, fullName } = await asked.api.getSkill({ name: nameIn(asked) })
  if (version === '') {
    const message = `${fullName} has no version to install: all are yanked or recalled, or none was published.`
    return toClawhubAnswer({ ok: false, slug, reason: 'archive_version_missing', message, status: 410 }, 410)
  }
  const query = new URLSearchParams({ slug, ownerHandle: author.username, version })
  const downloadUrl = `${baseOf(asked.host, asked.call)}/api/v1/download?${query}`
  return toClawhubAnswer({ ok: true, slug, installKind: 'archive', archive: { version, downloadUrl } })
}

async function downloadSkill(asked: Asked) {
  const { api, host, call, query } = asked
  const wanted = { name: nameInQuery(query), version: readVersionQuery(query) }
  if (call.header('if-none-match') !== null) {
    // A response that the client has cached does not count as a download.
    const answer = toFileAnswer(asked, await apiOf(host, call, { counts: false }).getArchive(wanted))
    if (host.isKnown(call, answer.etag)) return answer
  }
  return toFileAnswer(asked, await api.getArchive(wanted))
}

/**
 * Finds the version of a skill with the content of a local folder. `clawhub` also asks for a skill that it is about to
 * publish, so a missing skill is no error.
 */
async function resolveFingerprint({ api, query }: Asked) {
  const name = nameInQuery(query)
  const skill = await orUndefined(api.getSkill({ name }), 'not_found')
  if (!skill) return toClawhubAnswer({ match: null, latestVersion: null })
  const hash = query.get('hash')
  const version = hash === null ? undefined : await findByFingerprint(api, name, hash)
  const { latestVersion } = skill
  return toClawhubAnswer({
    match: version === undefined ? null : { version },
    latestVersion: latestVersion === '' ? null : { version: latestVersion },
  })
}

async function findByFingerprint(api: RegistryApi, name: string, hash: string): Promise<string | undefined> {
  for await (const page of readListedVersions(api, name)) {
    for (const version of page) {
      if (isOfferedVersion(version) && toFingerprint(version.files) === hash) return version.version
      if (isSliceOver()) await nextSlice()
    }
  }
  return undefined
}

function nameInQuery(query: URLSearchParams): string {
  const slug = query.get('slug')
  if (!slug) throw new RegistryError('invalid_request', 'slug is missing.')
  return toClawhubName(slug, query.get('ownerHandle'))
}

function toFileAnswer({ host, call }: Asked, content: Content): Answer {
  return { status: 200, cacheControl: toCacheControl(call), ...host.toContentAnswer(content) }
}
