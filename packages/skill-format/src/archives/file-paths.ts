import { limits } from '@skillstead/protocol'
import { findGitProblems } from './git-paths.ts'

/** The bytes of a path in UTF-8; what most file systems allow for one name. */
const pathBytesMax = 255
/** The segments of a path, its file name included. */
const pathSegmentsMax = 8

/** What a version may hold, SKILL.md included. */
export interface FileLimits {
  readonly filesMax: number
  readonly fileBytesMax: number
  readonly versionBytesMax: number
}

/** The limits of a registry: 512 files, 10 MiB a file, 16 MiB a version. */
export const fileLimits: FileLimits = {
  filesMax: limits.versionFilesMax,
  fileBytesMax: limits.fileBytesMax,
  versionBytesMax: limits.versionBytesMax,
}

/** What is wrong with one file of a version; `path` is `''` for the version as a whole. */
export interface PathProblem {
  readonly path: string
  readonly message: string
}

/**
 * Lists what is wrong with the files of a version, SKILL.md not among them: paths that some file system cannot hold or
 * that lead elsewhere, files that git takes for a repository of its own, files that would overwrite each other, and
 * sizes (of files that give one) over the limits. One problem a path; none when all may be published.
 */
export function checkPaths(
  files: readonly { readonly path: string; readonly size?: number }[],
  bounds: FileLimits = fileLimits,
): PathProblem[] {
  const problems: PathProblem[] = []
  if (files.length > bounds.filesMax) {
    problems.push({ path: '', message: `The version has ${files.length} files; ${bounds.filesMax} are allowed.` })
  }
  const collisions = findCollisions(files)
  // Longer paths are refused for their length before anything that takes time in it.
  const short = files.flatMap(({ path }) => (isLong(path) ? [] : [path]))
  const inGit = new Map(findGitProblems(short).map((problem) => [problem.path, problem.message]))
  for (const [index, { path, size = 0 }] of files.entries()) {
    const isLarge = size > bounds.fileBytesMax
    const sizeMessage = isLarge ? `The file has ${size} bytes; ${bounds.fileBytesMax} are allowed.` : undefined
    const message = inGit.get(path) ?? checkPath(path) ?? collisions.get(index) ?? sizeMessage
    if (message) problems.push({ path, message })
  }
  const total = files.reduce((sum, { size = 0 }) => sum + size, 0)
  if (total > bounds.versionBytesMax) {
    problems.push({ path: '', message: `The files have ${total} bytes; ${bounds.versionBytesMax} are allowed.` })
  }
  return problems
}

/** A path as file systems compare that ignore case and normalisation. */
export function toFoldedPath(path: string): string {
  // Both ways: upper case alone unites `ſ` and `s`, and lower case what remains.
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')
}

/** The first rule that a path breaks, as a sentence; undefined when it breaks none. */
function checkPath(path: string): string | undefined {
  const rule = pathRules.find(({ breaks }) => breaks(path))
  if (rule) return rule.message
  const segments = path.split('/')
  if (segments.length > pathSegmentsMax) return `The path is ${segments.length} deep; ${pathSegmentsMax} are allowed.`
  if (toFoldedPath(segments[0]!) === 'skill.md') return 'SKILL.md at the root is the document itself; send it as such.'
  return undefined
}

/** In this order: a length is checked before anything that takes time in it. */
const pathRules: readonly { breaks: (path: string) => boolean; message: string }[] = [
  { breaks: (path) => path === '', message: 'The path is empty.' },
  { breaks: isLong, message: `The path is longer than ${pathBytesMax} bytes.` },
  { breaks: (path) => !path.isWellFormed(), message: 'The path is not valid Unicode.' },
  { breaks: (path) => /\p{Cc}/u.test(path), message: 'The path holds control characters.' },
  { breaks: (path) => path.includes('\\'), message: 'The path holds a back-slash; separate folders by `/`.' },
  { breaks: (path) => path.startsWith('/'), message: 'The path is absolute; it must be relative to SKILL.md.' },
  // `a.txt:b` names a hidden stream of a.txt on Windows, and `C:` a drive.
  {
    breaks: (path) => path.includes(':'),
    message: 'The path holds a colon, which Windows takes for a drive or stream.',
  },
  { breaks: (path) => hasSegment(path, /^(?:|\.|\.\.)$/), message: 'The path holds an empty, `.` or `..` segment.' },
  { breaks: (path) => hasSegment(path, /[. ]$/), message: 'A segment of the path ends with a dot or a space.' },
  {
    breaks: (path) => hasSegment(path, devicePattern),
    message: 'The path holds a name that Windows keeps for a device.',
  },
  { breaks: (path) => path.normalize('NFC') !== path, message: 'The path is not in Unicode normalisation form C.' },
]

/** Windows opens the device whatever stands after the dot, and with superscript digits too. */
const devicePattern = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00B9\u00B2\u00B3]) *(?:\.|$)/i

function isLong(path: string): boolean {
  return path.length > pathBytesMax || Buffer.byteLength(path) > pathBytesMax
}

function hasSegment(path: string, pattern: RegExp): boolean {
  return path.split('/').some((segment) => pattern.test(segment))
}

/** By index, the files whose path is another's, or a folder of another's, where case is ignored. */
function findCollisions(files: readonly { readonly path: string }[]): Map<number, string> {
  const folded = files.map(({ path }) => (path.length > pathBytesMax ? path : toFoldedPath(path)))
  const firstWith = new Map<string, number>()
  const folders = new Set<string>()
  const collisions = new Map<number, string>()
  for (const [index, path] of folded.entries()) {
    const other = firstWith.get(path)
    if (other === undefined) firstWith.set(path, index)
    else collisions.set(index, `The path is the same as '${files[other]!.path}' where case is ignored.`)
    if (path.length <= pathBytesMax) addFolders(path, folders)
  }
  for (const [index, path] of folded.entries()) {
    if (folders.has(path)) collisions.set(index, 'The path is also the folder of another file.')
  }
  return collisions
}

function addFolders(path: string, folders: Set<string>): void {
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) folders.add(path.slice(0, at))
}
