import { RegistryError } from '@skillstead/protocol'
import { findGitProblems } from '@skillstead/skill-format/archives'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { CallOptions } from '../../kernel/call-options.ts'
import type { Caller } from '../../kernel/caller.ts'
import { isSliceOver, nextSlice } from '../../kernel/time-slices.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { countAndAnswer } from './offers.ts'
import { getSkill } from '../skills/find-skill.ts'
import { countDownload } from '../skills/read-skill.ts'
import { selectListedVersions } from '../versions/skill-document.ts'
import { isOffered } from '../versions/recalls.ts'
import { readFileRowsOfMany } from '../versions/version-files.ts'
import type { FileRow } from '../versions/stored-version.ts'

/** A skill with all its versions, for protocols that serve its history. */
export interface SkillHistory {
  readonly name: string
  /** Empty if no version is offered. */
  readonly latestVersion: string
  /** Lowest first, including yanked and recalled versions. */
  readonly versions: readonly {
    readonly id: string
    readonly version: string
    readonly digest: string
    /** Milliseconds since 1970. */
    readonly publishedAt: number
    /** The user who published the version, who need not be the owner of the skill now. */
    readonly publisher: string
    /** Neither yanked nor recalled. */
    readonly isOffered: boolean
    readonly isRecalled: boolean
  }[]
  /** Counts a download of the latest version by anyone but the owner. */
  countDownload(options: Pick<CallOptions, 'client' | 'kind' | 'address'>): void
}

/** The history of a skill. Throws the errors of reading a skill, and `not_found` for a skill without content. */
export function readSkillHistory(context: CatalogueContext, name: string, caller: Caller): Promise<SkillHistory> {
  return countAndAnswer(context, async () => {
    const skill = await getSkill(context, name, caller)
    const rows = await selectListedVersions(context.database.read, { skillId: skill.id })
    if (rows.length === 0) throw new RegistryError('not_found', `${skill.full_name} has no versions.`)
    return {
      name: skill.name,
      latestVersion: skill.latest_version,
      versions: rows.toReversed().map((row) => {
        const { id, version, digest, published_at, publisher } = row
        return {
          id,
          version,
          digest,
          publishedAt: published_at,
          publisher,
          isOffered: isOffered(row),
          isRecalled: row.recalled_by !== null,
        }
      }),
      countDownload: (options) =>
        countDownload(context, { skill, version: { version: skill.latest_version } }, caller, options),
    }
  })
}

/**
 * The files of versions, by version id. Leaves out quarantined versions, whose content no one may read. Does not check
 * other permissions.
 */
export async function readReadableFiles({ database }: StorageContext, versionIds: readonly string[]) {
  const readable = new Map<string, readonly FileRow[]>()
  for (const [id, list] of await readFileRowsOfMany(database.read, versionIds)) {
    if (isSliceOver()) await nextSlice()
    if (findGitProblems(list.map(({ path }) => path)).length === 0) readable.set(id, list)
  }
  return readable
}
