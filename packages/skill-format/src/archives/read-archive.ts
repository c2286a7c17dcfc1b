import { ArchiveError, toArchiveError, type PathProblem } from './archive-error.ts'
import type { ArchiveFile } from './entry-options.ts'
import { checkPaths, fileLimits, toFoldedPath, type FileLimits } from './file-paths.ts'
import { findGitProblems } from './git-paths.ts'
import { readTar } from './read-tar.ts'
import { readZip } from './read-zip.ts'

/** The files of an archive, and the paths of `.git` entries in it, whose contents were left out. */
interface ArchiveContent {
  readonly files: readonly ArchiveFile[]
  readonly gitFolders: readonly string[]
}

/** A skill as read from an archive. */
export interface ArchivedSkill {
  readonly skillMd: Uint8Array
  readonly files: readonly ArchiveFile[]
  /** Whether a `.git` next to SKILL.md was left out. */
  readonly hasGitFolder: boolean
}

/**
 * Reads an uploaded archive with `SKILL.md` (in any casing) at its root or in its only top-level folder, which is
 * stripped. Works in memory, does not trust declared sizes, and yields to the event loop. Leaves out files of operating
 * systems (`__MACOSX/`, `.DS_Store`, `._*`) and a `.git/` next to SKILL.md.
 *
 * @throws {ArchiveError} naming every offending path, if a file may not be published or the archive is invalid.
 */
export async function readArchive(
  bytes: Uint8Array,
  type: 'zip' | 'tar.gz',
  limits: FileLimits = fileLimits,
): Promise<ArchivedSkill> {
  const content = await readArchiveFiles(bytes, type, limits)
  const { skillMd, files, folder } = stripTopFolder(content.files)
  const gitFolders = content.gitFolders.flatMap((path) => (path.startsWith(folder) ? [path.slice(folder.length)] : []))
  const sized = files.map((file) => ({ path: file.path, size: file.bytes.length }))
  // SKILL.md counts towards the limits of a version.
  const rest = { filesMax: limits.filesMax - 1, versionBytesMax: limits.versionBytesMax - skillMd.length }
  const wrong = [
    ...findGitProblems(gitFolders.filter((path) => path !== '.git')),
    ...checkPaths(sized, { ...limits, ...rest }),
  ]
  if (skillMd.length > limits.fileBytesMax) wrong.push({ path: 'SKILL.md', message: 'SKILL.md is too large.' })
  if (wrong.length > 0) throw new ArchiveError(wrong)
  return { skillMd, files, hasGitFolder: gitFolders.includes('.git') }
}

/**
 * Reads the files of any archive, with the same safety checks. Does not read below a `.git`.
 *
 * @throws {ArchiveError} naming every entry that cannot be a file of a skill.
 */
export async function readArchiveFiles(
  bytes: Uint8Array,
  type: 'zip' | 'tar.gz',
  limits: FileLimits,
): Promise<ArchiveContent> {
  const problems: PathProblem[] = []
  const gitFolders = new Set<string>()
  const keep = (name: string) => readEntryPath(name, gitFolders)
  const files = await (type === 'zip' ? readZip : readTar)(bytes, { limits, keep, problems })
  if (problems.length > 0) throw new ArchiveError(problems)
  return { files, gitFolders: [...gitFolders] }
}

function readEntryPath(name: string, gitFolders: Set<string>): string | undefined {
  // `tar -c .` puts `./` before every name; macOS stores names in decomposed form.
  const path = name.replace(/^(?:\.\/)+/, '').normalize('NFC')
  const segments = path.split('/')
  if (segments[0] === '__MACOSX' || isSystemFile(segments.at(-1)!)) return undefined
  const git = segments.indexOf('.git')
  if (git !== -1) gitFolders.add(segments.slice(0, git + 1).join('/'))
  return path === '' || path === '.' || git !== -1 ? undefined : path
}

function isSystemFile(name: string): boolean {
  return name === '.DS_Store' || name.startsWith('._')
}

function stripTopFolder(entries: readonly ArchiveFile[]) {
  const folder = findTopFolder(entries)
  const skillMds = entries.filter(({ path }) => isSkillMdIn(path, folder))
  if (skillMds.length > 1) {
    throw new ArchiveError(skillMds.map(({ path }) => ({ path, message: 'There must be exactly one SKILL.md.' })))
  }
  const files = entries.filter((entry) => entry !== skillMds[0])
  return {
    folder,
    skillMd: skillMds[0]!.bytes,
    files: files.map((file) => ({ ...file, path: file.path.slice(folder.length) })),
  }
}

/** `''` if SKILL.md is at the root, else the only top-level folder, with its slash. */
function findTopFolder(entries: readonly ArchiveFile[]): string {
  if (entries.some(({ path }) => isSkillMdIn(path, ''))) return ''
  const first = entries[0]?.path ?? ''
  const folder = first.slice(0, first.indexOf('/') + 1)
  const isOne = folder !== '' && entries.every(({ path }) => path.startsWith(folder))
  if (isOne && entries.some(({ path }) => isSkillMdIn(path, folder))) return folder
  throw toArchiveError('The archive has no SKILL.md at its root or in its only top-level folder.')
}

function isSkillMdIn(path: string, folder: string): boolean {
  return toFoldedPath(path.slice(folder.length)) === 'skill.md'
}
