import type { PathProblem } from './archive-error.ts'

/** Code points that HFS+ ignores in names, and other code points that are invisible. */
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

/** Folds a text. Upper case first: upper case unites `\u0131` and `i`, which lower case alone does not. */
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

const gitFolderMessage =
  'A file system may treat a segment of the path as `.git`, whose config can run programs. Remove it.'
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

/**
 * Whether git takes a folder with a `HEAD` and these names for a repository, by `is_git_directory` in git's setup.c. A
 * `commondir` names another folder that contains `objects` and `refs`.
 */
function isBareRepository(names: ReadonlySet<string>): boolean {
  return names.has('commondir') || (names.has('objects') && names.has('refs'))
}

/**
 * Names that git, or git-lfs, reads at a clone or checkout: they change bytes, run filters, or make the clone fail.
 * Includes the short names that NTFS gives to these files.
 */
const readByGit = /^(?:\.gitattributes|\.gitmodules|\.lfsconfig|(?:gi(?:tatt|tmod|7[\da-f]{0,4})?|g|)~\d+)$/
const mayBeReadByGit = /[^ -~]|~|\.(?:git|lfs)/i
const renamedSuffixes = /(?:\.skill)+$/i

function isReadByGit(name: string): boolean {
  return readByGit.test(toFoldedName(name.replace(renamedSuffixes, '')))
}

/**
 * The path of a file in a git repository with the skill: names that git would read as its own end with `.skill`, such
 * as `.gitattributes.skill`. A name that already ends so gets one more suffix, so that no two paths become the same.
 * `checkPaths` refuses names that become too long.
 */
export function toPathInGit(path: string): string {
  if (!mayBeReadByGit.test(path)) return path
  const names = path.split('/').map((name) => (isReadByGit(name) ? `${name}.skill` : name))
  return names.join('/')
}

/**
 * The `.gitattributes` at the root of each repository of a node: clones have the published bytes, whatever the
 * configuration of the client. `!working-tree-encoding` has no dash, because git refuses it with a dash.
 */
export const gitAttributes = '* -text !eol !crlf -ident -filter !working-tree-encoding\n'

/** Whether a file may be a `.gitattributes` of a node, by its path and size; see {@link isGitAttributes}. */
export function mayBeGitAttributes({ path, size }: { readonly path: string; readonly size: number }): boolean {
  return size === gitAttributes.length && /(?:^|\/)\.gitattributes$/.test(path)
}

/** Whether an entry is a `.gitattributes` that a node wrote, so that its folder is a repository of a node. */
export function isGitAttributes({ path, bytes }: { readonly path: string; readonly bytes?: Uint8Array }): boolean {
  return bytes !== undefined && mayBeGitAttributes({ path, size: bytes.length }) && gitAttributesBytes.equals(bytes)
}

/** The published path of a file in a repository of a node: reverses {@link toPathInGit}. */
export function fromPathInGit(path: string): string {
  if (!mayBeReadByGit.test(path)) return path
  const names = path.split('/').map((name) => (isReadByGit(name) ? name.replace(/\.skill$/i, '') : name))
  return names.join('/')
}

const gitAttributesBytes = Buffer.from(gitAttributes)
