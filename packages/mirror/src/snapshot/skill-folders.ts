import { posix } from 'node:path'
import { isSkillName, limits } from '@skillstead/protocol'
import type { KnownReleases, Refusal, Release, SnapshotBatch } from '../types.ts'
import { toFoundRelease, toFolderSkillName } from './to-release.ts'

/** A file of a folder tree. The path uses `/`. */
export interface TreeFile {
  readonly path: string
  readonly size: number
  /** Undefined if the tree has no modes. */
  readonly executable?: boolean
}

/** A folder with a SKILL.md, and the files of this skill. */
interface SkillFolder<T extends TreeFile> {
  /** The path; '' for the root. */
  readonly folder: string
  readonly skillMd: T
  readonly files: readonly T[]
}

/** A tree of files with skills: a folder, or a git commit. */
export interface SkillTree<T extends TreeFile> {
  readonly files: readonly T[]
  /** The name of the root, for a skill in the root itself. */
  readonly rootName: string
  /** Milliseconds since 1970. Default: now. */
  readonly publishedAt?: number
  readonly repository?: string
  read(files: readonly T[]): Promise<Uint8Array[]>
}

/** Files and folders that tools create and that belong to no skill. */
const skipped: ReadonlySet<string> = new Set(['node_modules', '.DS_Store', '__MACOSX'])
const batchBytes = 8 * 1024 * 1024
const batchMax = 50

/** Whether a file or folder with this name is ignored. */
export function isSkipped(name: string): boolean {
  return skipped.has(name) || name.startsWith('._')
}

/**
 * The folder of each skill, by skill name. A skill that stays in its folder keeps its name when another folder gets the
 * same name.
 */
export type Places = Record<string, string>

/** Yields the releases of a tree in batches. Updates `places` to the current folders. */
export async function* readSkillTree<T extends TreeFile>(
  tree: SkillTree<T>,
  {
    owner,
    places,
    wants,
  }: { owner: string; places: Places; wants: (skill: { owner: string; name: string }) => boolean },
  known: KnownReleases,
): AsyncGenerator<Omit<SnapshotBatch, 'cursor'> & { left: number }> {
  const { folders, refused } = findSkillFolders(tree.files)
  if (refused.length > 0) yield { releases: [], refused, left: folders.length }
  // Known folders first, so that no other folder takes their names.
  const had = new Map(Object.entries(places).map(([name, folder]) => [folder, name]))
  const ordered = folders.toSorted((a, b) => Number(had.has(b.folder)) - Number(had.has(a.folder)))
  const taken = new Map<string, string>()
  for (const [i, batch] of toFolderBatches(ordered)) {
    yield { ...(await readBatch(batch)), left: ordered.length - i - batch.length }
  }
  for (const name of Object.keys(places)) delete places[name]
  Object.assign(places, Object.fromEntries(taken))

  async function readBatch(batch: readonly SkillFolder<T>[]) {
    const found: { name: string; files: Release['files'] }[] = []
    const wrong: Refusal[] = []
    let unchanged = 0
    for (const one of batch) {
      const files = await readSkillFolder(tree, one)
      const name = toFolderSkillName(files, posix.basename(one.folder || tree.rootName))
      const other = taken.get(name)
      if (!isSkillName(name))
        wrong.push(refuseFolder(one, 'malformed', 'Neither SKILL.md nor the folder has a valid skill name.'))
      else if (other !== undefined) {
        wrong.push(refuseFolder(one, 'malformed', `The skill in '${other || '.'}' already has the name '${name}'.`))
      } else {
        taken.set(name, one.folder)
        if (wants({ owner, name })) found.push({ name, files })
      }
    }
    const here = await known.find(found.map(({ name }) => `${owner}/${name}`))
    const releases = found.flatMap(({ name, files }) => {
      const { publishedAt, repository } = tree
      const about = { ...(publishedAt !== undefined && { publishedAt }), ...(repository && { repository }) }
      const release = toFoundRelease({ owner, name, files, ...about }, here.get(`${owner}/${name}`))
      if (!release) unchanged += 1
      return release ? [release] : []
    })
    return { releases, refused: wrong, unchanged }
  }
}

/** Finds all folders with a SKILL.md, in the order of their paths. Each file belongs to the nearest one above it. */
function findSkillFolders<T extends TreeFile>(tree: readonly T[]): { folders: SkillFolder<T>[]; refused: Refusal[] } {
  const all = tree.filter(({ path }) => toGitFolder(path) === undefined)
  const skillMds = all.filter(({ path }) => isSkillMd(path))
  const byFolder = new Map(skillMds.map((file) => [toParentFolder(file.path), file]))
  const filesOf = Map.groupBy(
    all.filter(({ path }) => !isSkillMd(path)),
    ({ path }) => findOwner(path, byFolder),
  )
  const gitFolders = tree.flatMap(({ path }) => toGitFolder(path) ?? [])
  const gitFoldersOf = Map.groupBy(gitFolders, (path) => findOwner(path, byFolder))
  const folders: SkillFolder<T>[] = []
  const refused: Refusal[] = []
  for (const folder of [...byFolder.keys()].toSorted()) {
    const one = { folder, skillMd: byFolder.get(folder)!, files: filesOf.get(folder) ?? [] }
    const nested = gitFoldersOf.get(folder)?.find((path) => toParentFolder(path) !== folder)
    const problem =
      nested === undefined
        ? findFolderProblem(one)
        : `${nested} is a nested git repository, which a skill must not contain.`
    if (problem) refused.push(refuseFolder(one, 'invalid', problem))
    else folders.push(one)
  }
  return { folders, refused }
}

/** Checks numbers and sizes before any file is read. */
function findFolderProblem({ skillMd, files }: SkillFolder<TreeFile>): string | undefined {
  const all = [skillMd, ...files]
  if (all.length > limits.versionFilesMax) return `The skill has more than ${limits.versionFilesMax} files.`
  const large = all.find(({ size }) => size > limits.fileBytesMax)
  if (large) return `${large.path} is larger than ${limits.fileBytesMax / 1024 / 1024} MiB.`
  const bytes = all.reduce((sum, { size }) => sum + size, 0)
  if (bytes > limits.versionBytesMax)
    return `The files together are larger than ${limits.versionBytesMax / 1024 / 1024} MiB.`
  return undefined
}

async function readSkillFolder<T extends TreeFile>(
  tree: SkillTree<T>,
  { folder, skillMd, files }: SkillFolder<T>,
): Promise<Release['files']> {
  const all = [skillMd, ...files]
  const bytes = await tree.read(all)
  return all.map((file, i) => {
    const path = file === skillMd ? 'SKILL.md' : file.path.slice(folder === '' ? 0 : folder.length + 1)
    return { path: path.normalize('NFC'), bytes: bytes[i]!, executable: file.executable }
  })
}

function* toFolderBatches<T extends TreeFile>(
  folders: readonly SkillFolder<T>[],
): Generator<[number, SkillFolder<T>[]]> {
  let batch: SkillFolder<T>[] = []
  let bytes = 0
  for (const [i, one] of folders.entries()) {
    batch.push(one)
    bytes += one.files.reduce((sum, { size }) => sum + size, one.skillMd.size)
    if (batch.length < batchMax && bytes < batchBytes && i < folders.length - 1) continue
    yield [i + 1 - batch.length, batch]
    batch = []
    bytes = 0
  }
}

/** The `.git` folder or file that contains a path; undefined for other paths. One next to a SKILL.md is ignored. */
function toGitFolder(path: string): string | undefined {
  const segments = path.split('/')
  const at = segments.indexOf('.git')
  return at === -1 ? undefined : segments.slice(0, at + 1).join('/')
}

function isSkillMd(path: string): boolean {
  return posix.basename(path).toLowerCase() === 'skill.md'
}

function toParentFolder(path: string): string {
  const folder = posix.dirname(path)
  return folder === '.' ? '' : folder
}

function findOwner(path: string, folders: ReadonlyMap<string, unknown>): string | undefined {
  for (let folder = toParentFolder(path); ; folder = toParentFolder(folder)) {
    if (folders.has(folder)) return folder
    if (folder === '') return undefined
  }
}

function refuseFolder({ folder }: SkillFolder<TreeFile>, reason: string, detail: string): Refusal {
  return { subject: folder || '.', reason, detail }
}
