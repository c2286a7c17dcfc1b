import type { PathProblem } from './archive-error.ts'
import type { ArchiveFile } from './entry-options.ts'
import { checkSizes } from './file-paths.ts'
import { isSkillMd, selectSkills, type SelectedSkill, type SourceEntry } from './select-files.ts'

/** Why a skill cannot be published, as a sentence; undefined if its entries allow it. */
export function findSkillProblem({ problems: [first] }: SelectedSkill<SourceEntry>): string | undefined {
  return first && toSentence(first)
}

/** Checks the number and sizes of a skill's files before any file is read; undefined if they are within the limits. */
export function findSizeProblem({
  skillMd,
  files,
}: SelectedSkill<SourceEntry & { readonly size?: number }>): string | undefined {
  const [first] = checkSizes(
    files.map(({ path, entry }) => ({ path, size: entry.size ?? 0 })),
    skillMd.size ?? 0,
  )
  return first && toSentence(first)
}

function toSentence({ path, message }: PathProblem): string {
  return path === '' ? message : `${path}: ${message}`
}

/** The files of a skill, SKILL.md first. `read` returns the contents of entries, in their order. */
export async function readSelectedFiles<Entry extends SourceEntry>(
  { skillMd, files }: SelectedSkill<Entry>,
  read: (entries: readonly Entry[]) => readonly Uint8Array[] | Promise<readonly Uint8Array[]>,
): Promise<[ArchiveFile, ...ArchiveFile[]]> {
  const bytes = await read([skillMd, ...files.map(({ entry }) => entry)])
  const others = files.map(({ path, entry: { executable } }, i) => {
    return { path, bytes: bytes[i + 1]!, executable }
  })
  return [{ path: 'SKILL.md', bytes: bytes[0]!, executable: skillMd.executable }, ...others]
}

/**
 * Applies {@link selectSkills} to a list of files that a program made. In such a list, a second SKILL.md and a `.git`
 * are no accident: files with these names stay in the list, so that the publish is refused.
 */
export function selectListed<File extends { readonly path: string }>(listed: readonly File[]) {
  const isRefused = ({ path }: File) => isSkillMd(path) || path.split('/').includes('.git')
  const entries = [{ path: 'SKILL.md' }, ...listed.filter((file) => !isRefused(file))]
  const { files, omitted, changed } = selectSkills<SourceEntry>(entries).find(({ folder }) => folder === '')!
  const named = files.map(({ path, entry }) => ({ ...(entry as File), path }))
  return { files: [...named, ...listed.filter(isRefused)], omitted, changed }
}
