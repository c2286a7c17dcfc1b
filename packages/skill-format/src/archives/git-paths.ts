import type { Warning } from '@skillstead/protocol'
import type { PathProblem } from './file-paths.ts'

/** The warning about a `.git` beside SKILL.md in an uploaded archive or an imported folder. */
export const gitFolderLeftOut: Warning = {
  code: 'git_folder_left_out',
  message: 'The .git beside SKILL.md was left out: git runs programs that are named in it.',
}

/** Code points that HFS+ ignores in names, and others that no font shows. */
const ignorable = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu

/** A name as the most lenient file system compares it: NTFS cuts streams, dots and spaces at the end, HFS+ ignores. */
function toFoldedName(name: string): string {
  const cut = name.replace(/:.*$/s, '')
  const folded = isAscii(cut) ? cut.toLowerCase() : toFoldedText(cut)
  return folded.replace(/[. ]+$/, '')
}

/** Upper case alone unites `\u0131` and `i`. */
function toFoldedText(text: string): string {
  return text.replaceAll(ignorable, '').normalize('NFKC').toUpperCase().toLowerCase().replaceAll(ignorable, '')
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text)
}

/** Whether some file system takes a name for `.git`, in which git runs programs: `.GIT`, `git~1`, `.git. `, `.g\u200cit`. */
function isGitName(name: string): boolean {
  return /^(?:\.git|git~\d+)$/.test(toFoldedName(name))
}

/**
 * Finds the paths that git takes for its own, one problem a path: below a `.git`, and the `HEAD` of a folder that git
 * takes for a bare repository. In both the config names programs which `git status` runs (`core.fsmonitor`).
 */
export function findGitProblems(paths: readonly string[]): PathProblem[] {
  const problems: PathProblem[] = []
  /** The folded names in each folder, by its folded path, and the path of its HEAD. */
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

const gitFolderMessage = 'A file system may take a segment of the path for `.git`, whose config runs programs.'
const bareRepositoryMessage =
  'Beside `objects` and `refs`, or `commondir`, git takes the folder for a repository, whose config runs programs.'

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

/** As `is_git_directory` in git's setup.c: `commondir` names the folder that holds the other two. */
function isBareRepository(names: ReadonlySet<string>): boolean {
  return names.has('commondir') || (names.has('objects') && names.has('refs'))
}
