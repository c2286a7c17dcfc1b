import { createHash } from 'node:crypto'
import {
  type CatalogueContext,
  isSliceOver,
  nextSlice,
  readVersionTexts,
  type RepositoryVersion,
} from '@skillstead/core/internal'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { mainRef, type Repository } from './repository.ts'
import { type PlacedVersion, type ScopeChanges, selectChanges } from './scope-changes.ts'
import { openHistoryWriter, type ScopeCommit } from './scope-history.ts'
import type { ScopeChange } from './scope-state.ts'
import type { ForRequest, VersionTrees } from './version-trees.ts'

/** The repositories of owners and packs, cached by what they contain. */
export interface ScopeRepositories {
  /**
   * A repository with a commit for each version that changes the highest version of its skill. It depends only on
   * `versions`: all nodes of a cluster, and a node after a restart, compute the same ids, and a version that is not in
   * `versions` is in no history. Long histories do not start at the first change, see {@link selectChanges}.
   *
   * `name`: the owner, or the slug of the pack. `versions`: in the order of their publication. Those that
   * the cached history lacks are charged. Requests share the making of a history, which no signal ends.
   */
  open(name: string, versions: readonly RepositoryVersion[], request?: ForRequest): Promise<Repository>
}

interface History {
  readonly repository: Repository
  /** Oldest first. */
  readonly commits: readonly ScopeCommit[]
}

const historyBytesMax = 32 * 1024 * 1024
const newestMax = 1000

export function createScopeRepositories(context: CatalogueContext, trees: VersionTrees): ScopeRepositories {
  const histories = new LRUCache<string, History>({
    maxSize: historyBytesMax,
    // Limited, so that the largest history occupies the whole cache: making it for each request would take seconds.
    sizeCalculation: ({ commits }) => Math.min(measureCommits(commits), historyBytesMax),
  })
  /** The key of the newest history by name; the next history of the name may continue it. */
  const newest = new LRUCache<string, string>({ max: newestMax })
  /** The histories that are being made: concurrent requests for a repository share the work. */
  const pending = new Map<string, Promise<History>>()
  const inTurn = pLimit(2)

  async function make(name: string, { base, changes, commits: shared }: Start) {
    const commits = [...shared]
    const added = changes.slice(shared.length)
    const missing = listMissingChanges({ base, changes, commits: shared })
    const [roots, texts] = [await trees.findRoots(missing), await readVersionTexts(context, toIds(missing))]
    const complete = (list: readonly PlacedVersion[]) =>
      list.flatMap((version): ScopeChange[] => {
        const [root, own] = [roots.get(version.digest), texts.get(version.id)]
        if (root === undefined || own === undefined) return []
        return [{ ...version, tree: root.id, isPluginRoot: root.isPluginRoot, ...own }]
      })
    const writer = await openHistoryWriter({ name, base: complete(base), last: commits.at(-1) })
    for (const change of complete(added)) {
      if (isSliceOver()) await nextSlice()
      commits.push(writer.append(change))
    }
    return { commits, repository: toRepository(commits) }
  }

  return {
    async open(name, versions, { charge, signal } = {}) {
      const key = await toRepositoryKey(name, versions, signal)
      const cached = histories.get(key)
      if (cached) return cached.repository
      const start = await findRepositoryStart(versions, histories.peek(newest.get(name) ?? ''), signal)
      // The caller is charged before others can wait for the same work, so that a refusal affects this caller only.
      await charge?.(listMissingChanges(start).length)
      const made = histories.get(key)
      if (made) return made.repository
      let history = pending.get(key)
      if (!history) {
        history = inTurn(() => make(name, start)).finally(() => pending.delete(key))
        pending.set(key, history)
        histories.set(key, await history)
        newest.set(name, key)
      }
      return (await history).repository
    },
  }
}

/** The approximate memory of a history. The newest texts count twice: for the next commit, and for reading. */
function measureCommits(commits: readonly ScopeCommit[]): number {
  const texts = (commits.at(-1)?.texts ?? []).reduce((sum, { size }) => sum + 2 * size, 0)
  return commits.reduce((sum, { bytes }) => sum + bytes, 1 + texts)
}

/** What a history is made from: its changes, and the commits that it shares with the previous history. */
interface Start extends ScopeChanges {
  readonly commits: readonly ScopeCommit[]
}

async function findRepositoryStart(
  versions: readonly RepositoryVersion[],
  last: History | undefined,
  signal?: AbortSignal,
): Promise<Start> {
  const { base, changes } = await selectChanges(versions, signal)
  const shared = last === undefined ? 0 : countSharedChanges(last.commits, base, changes)
  return { base, changes, commits: last?.commits.slice(0, shared) ?? [] }
}

/** The versions that have to be read, because no shared commit contains them. */
function listMissingChanges({ base, changes, commits }: Start): PlacedVersion[] {
  return [...(commits.length === 0 ? base : []), ...changes.slice(commits.length)]
}

function toIds(versions: readonly RepositoryVersion[]): string[] {
  return versions.map(({ id }) => id)
}

async function toRepositoryKey(
  name: string,
  versions: readonly RepositoryVersion[],
  signal?: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256').update(name)
  for (let at = 0; at < versions.length; at += hashedAtOnce) {
    if (isSliceOver()) await nextSlice(signal)
    const batch = versions.slice(at, at + hashedAtOnce)
    hash.update(batch.map((version) => `\n${toIdentity(version)}`).join(''))
  }
  return hash.digest('base64')
}

const hashedAtOnce = 1000

/** Identifies a version by everything on which its commit depends. Its files are read by `id`. */
function toIdentity({ owner, name, version, digest, publishedAt, id }: RepositoryVersion): string {
  return `${owner}/${name} ${version} ${digest} ${publishedAt} ${id}`
}

/** The number of commits at the start of `commits` that a history of `base` and `changes` has as well. */
function countSharedChanges(
  commits: readonly ScopeCommit[],
  base: readonly PlacedVersion[],
  changes: readonly PlacedVersion[],
) {
  const first = commits[0]?.base ?? []
  if (first.length !== base.length || !first.every((version, i) => isSameVersion(version, base[i]))) return 0
  const differing = commits.findIndex(({ change }, i) => !isSameVersion(change, changes[i]))
  return differing === -1 ? commits.length : differing
}

function isSameVersion(a: PlacedVersion, b: PlacedVersion | undefined): boolean {
  return b !== undefined && a.folder === b.folder && toIdentity(a) === toIdentity(b)
}

function toRepository(commits: readonly ScopeCommit[]): Repository {
  const head = commits.at(-1)?.commit.object.id
  return {
    refs: head === undefined ? [] : [{ name: mainRef, id: head }],
    commits: new Map(commits.map(({ commit }) => [commit.object.id, commit])),
    tags: new Map(),
  }
}
