import { isRegistryError, RegistryError, type RegistryApi } from '@skillstead/protocol'
import { type Asked, nameIn, type RouteTable, toClawhubAnswer } from './route-table.ts'
import { readAllVersions } from './version-list.ts'

/**
 * Routes that restore deleted skills and versions. `clawhub` can restore them because its deletions only yank versions;
 * a deletion by the API of the node is final.
 */
export const withdrawRoutes: RouteTable = {
  '/api/v1/skills/:slug/undelete': { POST: undeleteSkill },
  '/api/v1/skills/:slug/versions/:version/restore': { POST: restoreVersion },
}

/** Answers `DELETE /skills/:slug`: yanks every version, the highest last, so that the latest stays until the end. */
export async function deleteClawhubSkill(asked: Asked) {
  const { api } = asked
  const name = nameIn(asked, await asked.readFields())
  for (const { version } of (await readSomeVersions(api, name)).toReversed()) await api.yankVersion({ name, version })
  return toClawhubAnswer({ ok: true })
}

/**
 * Restores every yanked version, even if it was yanked before the deletion. A version that was quarantined after the
 * deletion stays yanked.
 */
async function undeleteSkill(asked: Asked) {
  const { api } = asked
  const name = nameIn(asked, await asked.readFields())
  const versions = await readSomeVersions(api, name)
  const yanked = versions.filter((version) => version.yanked)
  const failures: RegistryError[] = []
  // If no version is yanked, restoring one only checks that the caller may do so.
  const restored = yanked.length > 0 ? yanked : versions.slice(0, 1)
  for (const { version } of restored) {
    try {
      await api.unyankVersion({ name, version })
    } catch (error) {
      if (!isRegistryError(error, 'not_found')) throw error
      failures.push(error)
    }
  }
  if (failures.length === restored.length) throw failures[0]!
  return toClawhubAnswer({ ok: true })
}

/** Answers `DELETE /skills/:slug/versions/:version`. */
export async function deleteVersion(asked: Asked) {
  const name = nameIn(asked, await asked.readFields())
  await asked.api.yankVersion({ name, version: asked.params.version ?? '' })
  return toClawhubAnswer({ ok: true })
}

async function restoreVersion(asked: Asked) {
  const name = nameIn(asked, await asked.readFields())
  await asked.api.unyankVersion({ name, version: asked.params.version ?? '' })
  return toClawhubAnswer({ ok: true })
}

async function readSomeVersions(api: RegistryApi, name: string) {
  const versions = await readAllVersions(api, name)
  if (versions.length > 0) return versions
  throw new RegistryError('not_found', `${name} has no versions.`)
}
