import { findSkippedPath, type PathReason } from '@skillstead/protocol'
import { ArchiveError, toArchiveError, type PathProblem } from './archive-error.ts'
import { toEntryPath, type ArchiveEntry, type ArchiveFile, type ReadLimits } from './entry-options.ts'
import { checkPaths } from './file-paths.ts'
import { pluginFile } from './plugin-manifest.ts'
import { readTar } from './read-tar.ts'
import { readZip } from './read-zip.ts'
import { isEscape, isSkillMd, selectSkills } from './select-files.ts'
import { readSelectedFiles } from './selected-skill.ts'

/** A skill as read from an archive. Paths are relative to SKILL.md. */
export interface ArchivedSkill {
  readonly skillMd: Uint8Array
  readonly files: readonly ArchiveFile[]
  readonly omitted: readonly PathReason[]
  readonly changed: readonly PathReason[]
}

/**
 * Reads an uploaded archive with `SKILL.md` (in any casing) at its root or in its only top-level folder, which is
 * stripped. Works in memory, does not trust declared sizes, and yields to the event loop. What belongs to the skill is
 * decided by {@link selectSkills}, as for folders.
 *
 * @throws {ArchiveError} naming every offending path, if a file may not be published or the archive is invalid.
 */
export async function readArchive(bytes: Uint8Array, type: 'zip' | 'tar.gz'): Promise<ArchivedSkill> {
  const entries = stripTopFolder(await readArchiveEntries(bytes, type))
  const selected = selectSkills(entries).find(({ folder }) => folder === '')!
  const [{ bytes: skillMd }, ...files] = await readSelectedFiles(selected, readArchived)
  const sized = files.map((file) => ({ path: file.path, size: file.bytes.length }))
  const wrong = [...selected.problems, ...checkPaths(sized, skillMd.length)]
  if (wrong.length > 0) throw new ArchiveError(wrong)
  return { skillMd, files, omitted: selected.omitted, changed: selected.changed }
}

/**
 * Reads all entries of any archive, with the safety checks of {@link readArchive}. Files that belong to no skill, links
 * and devices are entries without content. With `ofMany`, for archives of many skills, a refused entry is returned with
 * a `problem`, which concerns its skill only.
 *
 * @throws {ArchiveError} for an invalid archive, and without `ofMany` naming every entry that is refused.
 */
export async function readArchiveEntries(
  bytes: Uint8Array,
  type: 'zip' | 'tar.gz',
  ofMany?: ReadLimits,
): Promise<ArchiveEntry[]> {
  const unread = new Map<string, ArchiveEntry>()
  const keep = (name: string): string | undefined => {
    const path = toEntryPath(name)
    const isSkipped = !isEscape(path) && findSkippedPath(path) !== undefined
    if (isSkipped) unread.set(path, { path, bytes: new Uint8Array(), kind: 'folder' })
    return isSkipped || path === '' || path === '.' ? undefined : path
  }
  const problems: PathProblem[] = []
  const files = await (type === 'zip' ? readZip : readTar)(bytes, {
    ...(ofMany && { limits: ofMany, skipsProblems: true }),
    keep,
    problems,
    takesLinks: true,
  })
  if (problems.length > 0 && !ofMany) throw new ArchiveError(problems)
  const refused = problems.map(({ path, message }) => ({ path, bytes: new Uint8Array(), problem: message }))
  return [...files, ...refused, ...unread.values()]
}

/**
 * Reads all files of any archive, with the safety checks of {@link readArchive}.
 *
 * @throws {ArchiveError} naming every entry that is no file, or cannot be read.
 */
export async function readArchiveFiles(bytes: Uint8Array, type: 'zip' | 'tar.gz'): Promise<ArchiveFile[]> {
  const problems: PathProblem[] = []
  const files = await (type === 'zip' ? readZip : readTar)(bytes, { keep: toEntryPath, problems })
  if (problems.length > 0) throw new ArchiveError(problems)
  return files
}

/** The contents of entries, as {@link readSelectedFiles} takes them. */
export function readArchived(entries: readonly ArchiveEntry[]): Uint8Array[] {
  return entries.map(({ bytes }) => bytes)
}

/** The entries of a plugin, relative to the folder with its `plugin.json`; undefined if there is no plugin. */
export function stripPluginFolder(entries: readonly ArchiveEntry[] = []): ArchiveEntry[] | undefined {
  if (findTopFolder(entries, isSkillMd) !== undefined) return undefined
  const folder = findTopFolder(entries, (name) => name === pluginFile)
  return folder === undefined ? undefined : stripFolder(entries, folder)
}

function stripTopFolder(entries: readonly ArchiveEntry[]): ArchiveEntry[] {
  const folder = findTopFolder(entries, isSkillMd)
  if (folder !== undefined) return stripFolder(entries, folder)
  throw toArchiveError(
    stripPluginFolder(entries)
      ? 'The archive is a plugin: it has plugin.json and no SKILL.md at its root. Publish its skills and its pack with `skillstead publish FILE`.'
      : 'The archive has no SKILL.md at its root or in its only top-level folder. Pack the folder of the skill.',
  )
}

function stripFolder(entries: readonly ArchiveEntry[], folder: string): ArchiveEntry[] {
  return entries.map((entry) =>
    folder !== '' && entry.path.startsWith(folder) ? { ...entry, path: entry.path.slice(folder.length) } : entry,
  )
}

/**
 * `''` if a document is at the root, else the only top-level folder, with its slash, if the document is there. Folders
 * that were not read do not count.
 */
function findTopFolder(entries: readonly ArchiveEntry[], isDocument: (path: string) => boolean): string | undefined {
  const read = entries.filter(({ kind }) => kind !== 'folder')
  const has = (folder: string) =>
    read.some(({ path, kind }) => kind !== 'other' && isDocument(path.slice(folder.length)))
  if (has('')) return ''
  const first = read[0]?.path ?? ''
  const folder = first.slice(0, first.indexOf('/') + 1)
  return folder !== '' && read.every(({ path }) => path.startsWith(folder)) && has(folder) ? folder : undefined
}
