import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { findGitProblems } from '@skillstead/skill-format/archives'
import type { SkillRow, Tables, VersionRow } from '../storage/tables.ts'
import { readFiles } from './version-files.ts'

/**
 * Throws `not_found` for a version that was stored before paths of git were refused: git
 * would run what its config names. A rescan yanks it; its details and findings stay visible.
 */
export async function refuseQuarantined(
  db: Kysely<Tables>,
  { full_name: fullName }: Pick<SkillRow, 'full_name'>,
  { id, version }: Pick<VersionRow, 'id' | 'version'>,
): Promise<void> {
  const [problem] = findGitProblems((await readFiles(db, id)).map(({ path }) => path))
  if (!problem) return
  const { path, message } = problem
  throw new RegistryError('not_found', `${fullName}@${version} is quarantined. ${path}: ${message}`)
}
