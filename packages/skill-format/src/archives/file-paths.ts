import { limits } from '@skillstead/protocol'
import type { PathProblem } from './archive-error.ts'
import { findGitProblems, toPathInGit } from './git-paths.ts'

/** Maximum length of a path in bytes of UTF-8: what most file systems allow for a single name. */
const pathBytesMax = 255
/** Maximum number of segments in a path, including the file name. */
const pathSegmentsMax = 8

/**
 * Lists the problems of a version's files other than SKILL.md: paths that some file system cannot store or that lead
 * outside, files that git reads as a repository of its own, files that would overwrite each other, and sizes (of files
 * with a `size`) above the limits. SKILL.md counts towards the limits of a version. One problem per path; none if all
 * files may be published.
 */
export function checkPaths(
  files: readonly { readonly path: string; readonly size?: number }[],
  skillMdBytes = 0,
): PathProblem[] {
  const sizes = checkSizes(files, skillMdBytes)
  const sizeOf = new Map(sizes.map(({ path, message }) => [path, message]))
  const problems = sizes.filter(({ path }) => path === '' || path === 'SKILL.md')
  const collisions = findCollisions(files)
  // Long paths are rejected for their length, before checks whose time grows with it.
  const short = files.flatMap(({ path }) => (isLong(path) ? [] : [path]))
  const inGit = new Map(findGitProblems(short).map((problem) => [problem.path, problem.message]))
  for (const [index, { path }] of files.entries()) {
    const message = inGit.get(path) ?? checkPath(path) ?? collisions.get(index) ?? sizeOf.get(path)
    if (message) problems.push({ path, message })
  }
  return problems
}

/** The part of {@link checkPaths} about numbers and sizes. Only a file with a `size` can be too large. */
export function checkSizes(
  files: readonly { readonly path: string; readonly size?: number }[],
  skillMdBytes: number,
): PathProblem[] {
  const { versionFilesMax, fileBytesMax, versionBytesMax } = limits
  const all = [{ path: 'SKILL.md', size: skillMdBytes }, ...files]
  const total = all.reduce((sum, { size = 0 }) => sum + size, 0)
  const problems = all.flatMap(({ path, size = 0 }) =>
    size > fileBytesMax
      ? [{ path, message: `The file has ${size} bytes; ${fileBytesMax} are allowed. Link to a large file instead.` }]
      : [],
  )
  const refuse = (message: string) => problems.push({ path: '', message: `${message} Remove what agents do not need.` })
  if (all.length > versionFilesMax)
    refuse(`The version has ${all.length} files with SKILL.md; ${versionFilesMax} are allowed.`)
  if (total > versionBytesMax) refuse(`The files have ${total} bytes; ${versionBytesMax} are allowed.`)
  return problems
}

/** Shows a name that is not UTF-8: `\x` and two digits for each byte that is not plain ASCII, and for a backslash. */
export function escapeBytes(name: Uint8Array): string {
  const text = Buffer.from(name).toString('latin1')
  return text.replaceAll(/[^ -[\]-~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

/** Folds a path as file systems do that ignore case and normalisation. */
export function toFoldedPath(path: string): string {
  // Upper case first: upper case unites `ſ` and `s`, which lower case alone does not; then lower case for the rest.
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')
}

/** The first rule that a path breaks, as a sentence; undefined if it breaks none. */
function checkPath(path: string): string | undefined {
  const rule = pathRules.find(({ breaks }) => breaks(path))
  if (rule) return rule.message
  const segments = path.split('/')
  if (segments.length > pathSegmentsMax)
    return `The path has ${segments.length} segments; at most ${pathSegmentsMax} are allowed. Move it up.`
  if (toFoldedPath(segments[0]!) === 'skill.md')
    return 'SKILL.md at the root is the document itself. Send it as skillMd.'
  return undefined
}

/** The rules of paths in the order of their checks: the length first, before rules whose time grows with it. */
const pathRules: readonly { breaks: (path: string) => boolean; message: string }[] = [
  { breaks: (path) => path === '', message: 'The path is empty.' },
  { breaks: isLong, message: `The path is longer than ${pathBytesMax} bytes. Use shorter names.` },
  { breaks: (path) => !path.isWellFormed(), message: 'The path is not valid Unicode. Rename it.' },
  { breaks: (path) => /\p{Cc}/u.test(path), message: 'The path contains control characters. Rename it.' },
  // `harmless<U+202E>txt.sh` is displayed as `harmlesshs.txt`.
  {
    breaks: (path) => /[\u202A-\u202E\u2066-\u2069]/.test(path),
    message: 'The path contains characters that reverse text, so that it reads as another name. Rename it.',
  },
  { breaks: (path) => path.includes('\\'), message: 'The path contains a backslash. Separate folders with `/`.' },
  { breaks: (path) => path.startsWith('/'), message: 'The path is absolute. It must be relative to SKILL.md.' },
  // `a.txt:b` is a hidden stream of a.txt on Windows, and `C:` a drive.
  {
    breaks: (path) => path.includes(':'),
    message: 'The path contains a colon, which marks a drive or stream on Windows. Rename it.',
  },
  {
    breaks: (path) => /[?*<>"|]/.test(path),
    message: 'The path contains one of ? * < > " |, which Windows cannot store. Rename it.',
  },
  { breaks: (path) => hasSegment(path, /^(?:|\.|\.\.)$/), message: 'The path contains an empty, `.` or `..` segment.' },
  {
    breaks: (path) => hasSegment(path, /[. ]$/),
    message: 'A segment of the path ends with a dot or a space. Rename it.',
  },
  {
    breaks: (path) => hasSegment(path, devicePattern),
    message: 'The path contains a device name that Windows reserves. Rename it.',
  },
  {
    breaks: (path) => toPathInGit(path) !== path && toPathInGit(path).split('/').some(isLong),
    message: `Git reads files of this name. In repositories it ends with .skill, which makes it longer than ${pathBytesMax} bytes. Use a shorter name.`,
  },
  { breaks: (path) => path.normalize('NFC') !== path, message: 'The path is not in Unicode normalisation form C.' },
]

/** Names for which Windows opens a device, whatever follows the dot. Superscript digits count as digits. */
const devicePattern = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00B9\u00B2\u00B3]) *(?:\.|$)/i

function isLong(path: string): boolean {
  return path.length > pathBytesMax || Buffer.byteLength(path) > pathBytesMax
}

function hasSegment(path: string, pattern: RegExp): boolean {
  return path.split('/').some((segment) => pattern.test(segment))
}

/** Finds, by index, files whose path equals another's, or is a folder of another's, when case is ignored. */
function findCollisions(files: readonly { readonly path: string }[]): Map<number, string> {
  const folded = files.map(({ path }) => (path.length > pathBytesMax ? path : toFoldedPath(path)))
  const firstWith = new Map<string, number>()
  const folders = new Set<string>()
  const collisions = new Map<number, string>()
  for (const [index, path] of folded.entries()) {
    const other = firstWith.get(path)
    if (other === undefined) firstWith.set(path, index)
    else collisions.set(index, `The path equals '${files[other]!.path}' when case is ignored. Rename one of them.`)
    if (path.length <= pathBytesMax) addFolders(path, folders)
  }
  for (const [index, path] of folded.entries()) {
    if (folders.has(path)) collisions.set(index, 'The path is also the folder of another file. Rename one of them.')
  }
  return collisions
}

function addFolders(path: string, folders: Set<string>): void {
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) folders.add(path.slice(0, at))
}
