import { isSliceOver, nextSlice, type RepositoryVersion } from '@skillstead/core/internal'
import { compareVersions } from '@skillstead/protocol'
import { createPluginFolders } from '@skillstead/skill-format/archives'

/** A version that changed what a repository of several skills contains. */
export interface PlacedVersion extends RepositoryVersion {
  /** The folder of the skill below `skills/`. */
  readonly folder: string
}

/** The changes that the history of a repository contains. */
export interface ScopeChanges {
  /** The version of each skill before the first of `changes`. The first commit contains these versions as well. */
  readonly base: readonly PlacedVersion[]
  readonly changes: readonly PlacedVersion[]
}

/**
 * Selects the changes for the history of a repository, from versions in the order of their publication. A version that
 * is lower than another version of its skill changes nothing.
 *
 * A history is limited: 4096 commits, about 1,000,000 entries of trees, and 128 MiB of files. If all changes need more,
 * about the last N of them fit. The history then starts at a change whose number is a multiple of a power of two
 * between N/4 and N/2, so the start moves only after that number of publications.
 */
export async function selectChanges(
  versions: readonly RepositoryVersion[],
  signal?: AbortSignal,
): Promise<ScopeChanges> {
  const { placed, skills } = await placeVersions(versions, signal)
  const start = findFirstFittingChange(placed, skills)
  const base = new Map(placed.slice(0, start).map((version) => [toVersionSkill(version), version]))
  return { base: [...base.values()], changes: placed.slice(start) }
}

/** Limits of a history. The largest takes about half of the cache of histories, unless descriptions are long. */
const commitsMax = 4096
const entriesMax = 2 ** 20
const bytesPerEntry = 128

function findFirstFittingChange(changes: readonly PlacedVersion[], skills: number): number {
  let left = entriesMax
  let fitting = 0
  while (fitting < Math.min(changes.length, commitsMax) && left > 0) {
    left -= skills + changes[changes.length - 1 - fitting]!.size / bytesPerEntry
    fitting += 1
  }
  if (fitting === changes.length) return 0
  const step = 2 ** Math.max(0, Math.floor(Math.log2(fitting)) - 1)
  return Math.min(Math.ceil((changes.length - fitting) / step) * step, changes.length - 1)
}

/**
 * Places each version in the folder of its skill, which earlier versions alone determine: new skills move no folder.
 */
async function placeVersions(versions: readonly RepositoryVersion[], signal?: AbortSignal) {
  const current = new Map<string, PlacedVersion>()
  const toFolder = createPluginFolders()
  const placed: PlacedVersion[] = []
  for (const version of versions) {
    if (isSliceOver()) await nextSlice(signal)
    const fullName = toVersionSkill(version)
    const before = current.get(fullName)
    if (before && compareVersions(before.version, version.version) >= 0) continue
    const folder = before?.folder ?? toFolder(version)
    const change = { ...version, folder }
    current.set(fullName, change)
    placed.push(change)
  }
  return { placed, skills: current.size }
}

function toVersionSkill({ owner, name }: RepositoryVersion): string {
  return `${owner}/${name}`
}
