import { posix } from 'node:path'
import { cutList, findSkippedPath, type PathReason } from '@skillstead/protocol'
import type { PathProblem } from './archive-error.ts'
import { toFoldedPath } from './file-paths.ts'
import { findGitProblems, fromPathInGit, isGitAttributes } from './git-paths.ts'

/** An entry of a source of skills: a folder, an archive, a git commit, or a list of files. */
export interface SourceEntry {
  /** The path in the source, with `/`. */
  readonly path: string
  /** Default: `file`. A `folder` is one that was not read. `other` is a device, socket or pipe. */
  readonly kind?: 'file' | 'folder' | 'link' | 'other'
  /** Where a link leads, from its own folder; undefined where that is not known. */
  readonly target?: string | undefined
  /** Why the skill with this entry cannot be published, as a sentence. */
  readonly problem?: string
  /** Whether its mode makes it a program; undefined if the source has no modes. See `isExecutable`. */
  readonly executable?: boolean | undefined
  /** The content, if it is at hand. Sources have it for a `.gitattributes`, see {@link selectSkills}. */
  readonly bytes?: Uint8Array
}

/** What became of the entries of a skill. Paths are relative to its SKILL.md. */
export interface SelectedSkill<Entry extends SourceEntry> {
  /** The folder of SKILL.md in the source; `''` for the root. */
  readonly folder: string
  /** The path of SKILL.md in the source. */
  readonly document: string
  /** The entries with the content of SKILL.md and of the other files, whose paths are those of the version. */
  readonly skillMd: Entry
  readonly files: readonly { readonly path: string; readonly entry: Entry }[]
  /** Entries that are no part of the version. */
  readonly omitted: readonly PathReason[]
  /** Entries whose stored content or name differs from what the source has. */
  readonly changed: readonly PathReason[]
  /** Why the skill cannot be published; empty if it can. */
  readonly problems: readonly PathProblem[]
}

/** Maximum number of paths in the list of omitted or changed entries. Further paths are only counted. */
const reasonsMax = 100
/** Maximum length of the paths of SKILL.md files and links. Longer paths are ignored: they are never published. */
const pathCharactersMax = 1024
/** Maximum segments of a link's target: twice those of a published path, because a target may go up and down again. */
const targetSegmentsMax = 16
/** Maximum number of links in a chain, each of which leads to the next. */
const hopsMax = 8

/** The problem of an entry whose name could not be decoded. */
export const notUtf8 = 'The name is not UTF-8. Rename the file or folder.'

/** `SKILL.md` in any letter case. */
export function isSkillMd(name: string): boolean {
  return name.length === 8 && toFoldedPath(name) === 'skill.md'
}

/** Whether a path leads out of its archive. */
export function isEscape(path: string): boolean {
  return path.startsWith('/') || path.includes('\\') || path.split('/').includes('..')
}

/**
 * The one rule for what belongs to a skill, whatever its source: each folder with a SKILL.md is a skill, and each entry
 * belongs to the nearest skill above it. Links to files of the same skill become files with their content. Files of
 * version control and tools, other links, devices, and the folders of nested skills are omitted and named. Names that
 * are stored in another form are named too: `skill.md`, and macOS's decomposed characters. Below a `.gitattributes`
 * that a node wrote, or with `isOfNode`, files get back the names with which they were published. Takes time linear in
 * the entries. The skills are in the order of their folders.
 */
export function selectSkills<Entry extends SourceEntry>(
  entries: readonly Entry[],
  { isOfNode = false }: { readonly isOfNode?: boolean | undefined } = {},
): SelectedSkill<Entry>[] {
  const skippedPaths = new Set<string>()
  const kept: Entry[] = []
  for (const entry of entries) {
    const skippedPath = isEscape(entry.path) ? undefined : findSkippedPath(entry.path)
    if (skippedPath === undefined) kept.push(entry)
    else skippedPaths.add(skippedPath)
  }
  const isDocument = ({ path, kind, problem }: Entry) =>
    problem !== notUtf8 &&
    path.length <= pathCharactersMax &&
    kind !== 'folder' &&
    kind !== 'other' &&
    isSkillMd(posix.basename(path)) &&
    !isEscape(path)
  const documents = Map.groupBy(kept.filter(isDocument), ({ path }) => toParent(path))
  const findOwner = (path: string): string | undefined => {
    const start = path.length > pathCharactersMax ? path.slice(0, path.lastIndexOf('/', pathCharactersMax) + 1) : path
    for (let folder = toParent(start); ; folder = toParent(folder)) {
      if (documents.has(folder)) return folder
      if (folder === '') return undefined
    }
  }
  const ownedBy = Map.groupBy(kept, ({ path }) => findOwner(path))
  const skippedBy = Map.groupBy(skippedPaths, findOwner)
  // The folder of a nested skill belongs to the skill above it.
  const nestedBy = Map.groupBy(documents.keys(), (folder) => (folder === '' ? undefined : findOwner(folder)))
  const repositories = new Set(kept.filter(isGitAttributes).map(({ path }) => toParent(path)))
  const isInRepository = (folder: string): boolean =>
    repositories.has(folder) || (folder !== '' && isInRepository(toParent(folder)))
  const sorted = [...documents].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return sorted.map(([folder, found]) => {
    const toPublished = isOfNode || (repositories.size > 0 && isInRepository(folder)) ? fromPathInGit : undefined
    const left = { skipped: skippedBy.get(folder) ?? [], nested: nestedBy.get(folder) ?? [] }
    return selectFiles(folder, found, ownedBy.get(folder)!, left, toPublished)
  })
}

function selectFiles<Entry extends SourceEntry>(
  folder: string,
  [document, ...doubles]: readonly Entry[],
  entries: readonly Entry[],
  left: { readonly skipped: readonly string[]; readonly nested: readonly string[] },
  toPublished?: (path: string) => string,
): SelectedSkill<Entry> {
  const toOwn = (path: string) => (folder === '' ? path : path.slice(folder.length + 1))
  const omitted: PathReason[] = left.nested.map((path) => ({ path: toOwn(path), reason: nestedReason }))
  const changed: PathReason[] = []
  const problems: PathProblem[] = doubles.map(({ path }) => ({
    path: toOwn(path),
    message: 'There must be exactly one SKILL.md. Remove or rename the others.',
  }))
  for (const path of left.skipped.map(toOwn)) {
    if (path.endsWith('/.git')) problems.push(...findGitProblems([path]))
    else omitted.push({ path, reason: path === '.git' ? gitReason : skippedReason })
  }
  const files: { path: string; entry: Entry }[] = []
  const addFile = (path: string, entry: Entry, published = path): void => {
    const stored = toStoredPath(published)
    files.push({ path: stored, entry })
    if (published !== path) changed.push({ path, reason: `The file was published as ${stored}.` })
    else if (stored !== path) changed.push({ path, reason: composedReason })
  }
  let skillMd = document!
  const links = new Links(folder, entries)
  for (const entry of entries) {
    const path = toOwn(entry.path)
    const { kind = 'file', problem } = entry
    if (problem !== undefined) problems.push({ path, message: problem })
    else if (kind === 'other') omitted.push({ path, reason: otherReason })
    else if (kind === 'file' && entry !== document) {
      if (toPublished && path === '.gitattributes' && isGitAttributes(entry)) omitted.push({ path, reason: nodeReason })
      else addFile(path, entry, toPublished?.(path))
    } else if (kind === 'link') {
      const found = links.follow(entry)
      if (typeof found !== 'string') {
        const target = toOwn(found.path)
        changed.push({ path, reason: `The link to ${target} became a file with the content of ${target}.` })
        if (entry === document) skillMd = found
        else addFile(path, found)
      } else if (entry === document) problems.push({ path, message: found })
      else omitted.push({ path, reason: found })
    }
  }
  const name = toOwn(document!.path)
  if (name !== 'SKILL.md') changed.push({ path: name, reason: 'The file was stored as SKILL.md.' })
  if (skillMd.executable) changed.push({ path: name, reason: noProgramReason })
  return {
    folder,
    document: document!.path,
    skillMd,
    files,
    omitted: toBounded(omitted),
    changed: toBounded(changed),
    problems,
  }
}

/** The links of a skill. Only the list of its entries is used, so that nothing outside of the skill is read. */
class Links<Entry extends SourceEntry> {
  readonly #folder: string
  readonly #entries: readonly Entry[]
  readonly #folders = new Set<string>()
  #byPath: Map<string, Entry> | undefined

  constructor(folder: string, entries: readonly Entry[]) {
    this.#folder = folder.normalize('NFC')
    this.#entries = entries
  }

  /** The file that a link leads to, or why there is none. */
  follow({ path, target }: Entry): Entry | string {
    const byPath = (this.#byPath ??= this.#listPaths())
    const at = toSegments(toParent(path).normalize('NFC'))
    const top = toSegments(this.#folder).length
    const rest = toLinkSegments(target)
    if (!rest || path.length > pathCharactersMax) return outReason
    for (let hops = 0; rest.length > 0;) {
      const segment = rest.pop()!
      if (segment !== '..') at.push(segment)
      // Refuse a way out of the skill's folder and back: it leads nowhere in a source that has only this skill.
      else if (at.length === top) return outReason
      else at.pop()
      const found = byPath.get(at.join('/'))
      if (found?.kind !== 'link') continue
      const next = toLinkSegments(found.target)
      if (!next) return outReason
      hops += 1
      if (hops > hopsMax) return loopReason
      at.pop()
      rest.push(...next)
    }
    const end = at.join('/')
    const found = byPath.get(end)
    if (found && (found.kind ?? 'file') === 'file' && found.problem === undefined) return found
    if (this.#folders.has(end)) return 'The link leads to a folder.'
    return isBelow(end, this.#folder) ? 'The link leads to no file of the skill.' : outReason
  }

  #listPaths(): Map<string, Entry> {
    this.#folders.add(this.#folder)
    for (const { path } of this.#entries) {
      if (path.length > pathCharactersMax) continue
      for (let at = toParent(path.normalize('NFC')); !this.#folders.has(at) && at !== ''; at = toParent(at)) {
        this.#folders.add(at)
      }
    }
    return new Map(this.#entries.map((entry) => [entry.path.normalize('NFC'), entry]))
  }
}

const nestedReason =
  'The folder has a SKILL.md, which makes it a skill of its own. Hosts that search folders at any depth load it too.'
/** Why a file or folder of {@link isSkippedName} is omitted. */
export const skippedReason = 'Files and folders of this name belong to version control or tools, and to no skill.'
const gitReason = 'The config of a .git can make git run programs.'
const nodeReason = 'A node writes this file into its repositories. It is not part of the skill.'
const otherReason = 'The entry is neither a file nor a folder.'
const composedReason = 'The name was stored in Unicode normalisation form C, which other systems write.'
const noProgramReason = 'SKILL.md is a document: its executable mode was not stored.'
const outReason = 'The link leads out of the skill.'
const loopReason = `The link leads in a loop, or through more than ${hopsMax} links.`

/** The segments of a link's target, last first; undefined if it is absolute, or too long for a path in a skill. */
function toLinkSegments(target: string | undefined): string[] | undefined {
  if (target === undefined || target.length > pathCharactersMax || target.startsWith('/')) return undefined
  const segments = toSegments(target.normalize('NFC'))
  return segments.length > targetSegmentsMax ? undefined : segments.toReversed()
}

function toSegments(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.')
}

/** Normalises a path unless it is too long: such a path is refused later, and the work would grow with its length. */
function toStoredPath(path: string): string {
  return path.length > pathCharactersMax ? path : path.normalize('NFC')
}

function isBelow(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`)
}

function toParent(path: string): string {
  const folder = posix.dirname(path)
  return folder === '.' || folder === '/' ? '' : folder
}

/** The first entries by path, and the number of the other entries. */
export function toBounded(reasons: readonly PathReason[]): PathReason[] {
  const sorted = reasons.toSorted((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)))
  const { shown, more } = cutList(sorted, reasonsMax)
  return [...shown, ...(more > 0 ? [{ path: '', reason: `${more} more entries are not listed.` }] : [])]
}
