import { posix } from 'node:path'
import { isSkillName, type PathReason } from '@skillstead/protocol'
import {
  type FolderEntry,
  findSizeProblem,
  findSkillProblem,
  findTextProblem,
  findUnreadFolders,
  listStandIns,
  readSelectedFiles,
  selectSkills,
  type SelectedSkill,
} from '@skillstead/skill-format/archives'
import type { KnownReleases, Refusal, Release, SnapshotBatch } from '../types.ts'
import { hasValidFolderName, toFoundRelease, toFolderSkillName } from './to-release.ts'

/** A tree of files with skills: a folder, or a git commit. */
export interface SkillTree<T extends FolderEntry> {
  readonly entries: readonly T[]
  /**
   * Whether the tree is in a git repository that a node serves. Such a repository renames some files; they get their
   * published names back. Default: false.
   */
  readonly isOfNode?: boolean
  /** The name of the root folder: the folder name of a skill in the root itself. */
  readonly rootName: string
  /** Milliseconds since 1970. Default: now. */
  readonly publishedAt?: number
  readonly repository?: string
  read(files: readonly T[]): Promise<Uint8Array[]>
}

const batchBytes = 8 * 1024 * 1024
const batchMax = 50

/**
 * The folder of each skill, by skill name. A skill that stays in its folder keeps its name, even if another folder gets
 * the same name.
 */
export type Places = Record<string, string>

/** Yields the releases of a tree in batches. At the end, `places` has the current folders. */
export async function* readSkillTree<T extends FolderEntry>(
  tree: SkillTree<T>,
  {
    owner,
    places,
    wants,
  }: { owner: string; places: Places; wants: (skill: { owner: string; name: string }) => boolean },
  known: KnownReleases,
): AsyncGenerator<Omit<SnapshotBatch, 'cursor'> & { left: number }> {
  const { folders, ...reasons } = findSkillFolders(tree)
  yield { releases: [], ...reasons, left: folders.length }
  // Reads known folders first, then new folders with valid names, so that no other folder takes their names. Folders
  // without a valid name come last. They are read twice, so that their files do not wait in memory.
  const had = new Set(Object.values(places))
  const ordered = folders.toSorted((a, b) => Number(had.has(b.folder)) - Number(had.has(a.folder)))
  const later: SelectedSkill<T>[] = []
  const taken = new Map<string, string>()
  for (const [i, batch] of toFolderBatches(ordered)) {
    yield { ...(await readBatch(batch, later)), left: ordered.length - i - batch.length + later.length }
  }
  for (const [i, batch] of toFolderBatches(later)) {
    yield { ...(await readBatch(batch)), left: later.length - i - batch.length }
  }
  for (const name of Object.keys(places)) delete places[name]
  Object.assign(places, Object.fromEntries(taken))

  /** Reads the folders of a batch. Puts new folders without a valid name into `postponed`, if it is given. */
  async function readBatch(batch: readonly SelectedSkill<T>[], postponed?: SelectedSkill<T>[]) {
    const found: { name: string; files: Release['files'] }[] = []
    const wrong: Refusal[] = []
    const changed: PathReason[] = []
    let unchanged = 0
    for (const one of batch) {
      const files = await readSelectedFiles(one, tree.read)
      const problem = findTextProblem(files[0].bytes)
      const folderName = posix.basename(one.folder || tree.rootName)
      const name = toFolderSkillName(files, folderName)
      const other = taken.get(name)
      // A SKILL.md that cannot be read must not take the name of another skill.
      if (problem !== undefined) wrong.push(refuseFolder(one, 'invalid', problem))
      else if (postponed && !had.has(one.folder) && !hasValidFolderName(files, folderName)) postponed.push(one)
      else if (!isSkillName(name))
        wrong.push(refuseFolder(one, 'malformed', 'Neither SKILL.md nor the folder has a valid skill name.'))
      else if (other !== undefined) {
        wrong.push(refuseFolder(one, 'malformed', `The skill in '${other || '.'}' already has the name '${name}'.`))
      } else {
        taken.set(name, one.folder)
        if (!wants({ owner, name })) continue
        found.push({ name, files })
        changed.push(...toTreePaths(one, listStandIns(files.slice(1))))
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
    return { releases, refused: wrong, changed, unchanged }
  }
}

/** Finds all folders with a SKILL.md, in the order of their paths. */
function findSkillFolders<T extends FolderEntry>({ entries, isOfNode }: SkillTree<T>) {
  const folders: SelectedSkill<T>[] = []
  // A folder that could not be read is reported, because it may contain skills.
  const refused: Refusal[] = findUnreadFolders(entries).map(({ path, reason }) => {
    return { subject: path, reason: 'invalid', detail: reason }
  })
  for (const one of selectSkills(entries, { isOfNode })) {
    const problem = findSkillProblem(one) ?? findSizeProblem(one)
    if (problem) refused.push(refuseFolder(one, 'invalid', problem))
    else folders.push(one)
  }
  const list = (what: 'omitted' | 'changed') => folders.flatMap((one) => toTreePaths(one, one[what]))
  return { folders, refused, omitted: list('omitted'), changed: list('changed') }
}

function toTreePaths({ folder }: SelectedSkill<FolderEntry>, reasons: readonly PathReason[]): PathReason[] {
  return reasons.map(({ path, reason }) => ({ path: posix.join(folder, path), reason }))
}

function* toFolderBatches<T extends FolderEntry>(
  folders: readonly SelectedSkill<T>[],
): Generator<[number, SelectedSkill<T>[]]> {
  let batch: SelectedSkill<T>[] = []
  let bytes = 0
  for (const [i, one] of folders.entries()) {
    batch.push(one)
    bytes += one.files.reduce((sum, { entry }) => sum + entry.size, one.skillMd.size)
    if (batch.length < batchMax && bytes < batchBytes && i < folders.length - 1) continue
    yield [i + 1 - batch.length, batch]
    batch = []
    bytes = 0
  }
}

function refuseFolder({ folder }: SelectedSkill<FolderEntry>, reason: string, detail: string): Refusal {
  return { subject: folder || '.', reason, detail }
}
