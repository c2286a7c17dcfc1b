import type { PathProblem } from './archive-error.ts'

/** Code points that HFS+ ignores in names, and others that are invisible. */
const ignorable = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu

/**
 * Folds a name as the most lenient file systems compare it: NTFS ignores streams, and dots and spaces at the end; HFS+
 * ignores invisible code points.
 */
function toFoldedName(name: string): string {
  const cut = name.replace(/:.*$/s, '')
  const folded = isAscii(cut) ? cut.toLowerCase() : toFoldedText(cut)
  return folded.replace(/[. ]+$/, '')
}

/** Upper case first: upper case unites `\u0131` and `i`, which lower case alone does not. */
function toFoldedText(text: string): string {
  return text.replaceAll(ignorable, '').normalize('NFKC').toUpperCase().toLowerCase().replaceAll(ignorable, '')
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text)
}

/**
 * Whether some file system treats a name as `.git`, whose config can make git run programs: `.GIT`, `git~1`, `.git. `,
 * `.g\u200cit`.
 */
function isGitName(name: string): boolean {
  return /^(?:\.git|git~\d+)$/.test(toFoldedName(name))
}

/**
 * Finds the paths that git reads as its own, one problem per path: below a `.git`, and the `HEAD` of a folder that git
 * recognises as a bare repository. In both, the config names programs that `git status` runs (`core.fsmonitor`).
 */
export function findGitProblems(paths: readonly string[]): PathProblem[] {
  const problems: PathProblem[] = []
  /** The folded names in each folder and the path of its HEAD, by the folder's folded path. */
  const folders = new Map<string, { readonly names: Set<string>; head?: string }>()
  for (const path of paths) {
    const segments = path.split(/[/\\]/)
    if (segments.some(isGitName)) problems.push({ path, message: gitFolderMessage })
    else addNames(folders, segments.map(toFoldedName), path)
  }
  for (const { names, head } of folders.values()) {
    if (head !== undefined && isBareRepository(names)) problems.push({ path: head, message: bareRepositoryMessage })
  }
  return problems
}

const gitFolderMessage = 'A file system may treat a segment of the path as `.git`, whose config can run programs.'
const bareRepositoryMessage =
  'Next to `objects` and `refs`, or `commondir`, git treats the folder as a repository, whose config can run programs.'

function addNames(
  folders: Map<string, { readonly names: Set<string>; head?: string }>,
  segments: readonly string[],
  path: string,
): void {
  let folder = ''
  for (const [depth, name] of segments.entries()) {
    const found = folders.get(folder) ?? { names: new Set() }
    folders.set(folder, found)
    found.names.add(name)
    if (name === 'head' && depth === segments.length - 1) found.head = path
    folder += `${name}/`
  }
}

/** As `is_git_directory` in git's setup.c: `commondir` names the folder that contains the other two. */
function isBareRepository(names: ReadonlySet<string>): boolean {
  return names.has('commondir') || (names.has('objects') && names.has('refs'))
}
