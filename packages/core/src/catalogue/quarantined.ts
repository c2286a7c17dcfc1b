import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { findGitProblems } from '@skillstead/skill-format/archives'
import type { SkillRow, Tables, VersionRow } from '../storage/tables.ts'
import { readFiles } from './version-files.ts'

/**
 * Throws `not_found` for a version that was stored before git paths were refused: git would run what its config names.
 * A rescan yanks the version; its details and findings stay visible.
 */
export async function refuseQuarantined(
  db: Kysely<Tables>,
  { full_name: fullName }: Pick<SkillRow, 'full_name'>,
  { id, version }: Pick<VersionRow, 'id' | 'version'>,
): Promise<void> {
  const problem = await findProblem(db, id)
  if (!problem) return
  const { path, message } = problem
  throw new RegistryError('not_found', `${fullName}@${version} is quarantined. ${path}: ${message}`)
}

/**
 * Returns a check whether versions, by id, are quarantined like that. Each version is read once, since clients request
 * all its files.
 */
export function createQuarantineCheck(db: Kysely<Tables>): (versionId: string) => Promise<boolean> {
  const known = new Map<string, boolean>()
  return async (versionId) => {
    const isQuarantined = known.get(versionId) ?? (await findProblem(db, versionId)) !== undefined
    known.set(versionId, isQuarantined)
    return isQuarantined
  }
}

async function findProblem(db: Kysely<Tables>, versionId: string) {
  return findGitProblems((await readFiles(db, versionId)).map(({ path }) => path))[0]
}
