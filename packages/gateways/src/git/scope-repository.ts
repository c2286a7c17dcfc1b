import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { type CatalogueContext, readVersionDescriptions, type RepositoryVersion } from '@skillstead/core/internal'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { mainRef, type Repository } from './repository.ts'
import { type PlacedVersion, selectChanges } from './scope-changes.ts'
import { createHistoryWriter, type ScopeCommit } from './scope-history.ts'
import type { ScopeChange } from './scope-state.ts'
import type { VersionTrees } from './version-trees.ts'

/** The repositories of owners and packs, cached by what they contain. */
export interface ScopeRepositories {
  /**
   * A repository with a commit for each of the versions that changes the highest version of its skill. It has no state:
   * all nodes of a cluster, and a node after a restart, agree on the ids, and a version that the list lacks is in no
   * history. Long histories do not start at the first change, see {@link selectChanges}.
   *
   * `name`: the owner, or the slug of the pack. `versions`: in the order of their publication.
   */
  open(name: string, versions: readonly RepositoryVersion[]): Promise<Repository>
}

interface History {
  readonly repository: Repository
  /** Oldest first. */
  readonly commits: readonly ScopeCommit[]
}

const historyBytesMax = 32 * 1024 * 1024
const newestMax = 1000
/** Time for which the event loop may be blocked at once. */
const blockMs = 10

export function createScopeRepositories(context: CatalogueContext, trees: VersionTrees): ScopeRepositories {
  const histories = new LRUCache<string, History>({
    maxSize: historyBytesMax,
    sizeCalculation: ({ commits }) => commits.reduce((sum, { bytes }) => sum + bytes, 1),
  })
  /** The key of the history that was made last for a name, of which the next one may be a continuation. */
  const newest = new LRUCache<string, string>({ max: newestMax })
  /** Concurrent requests for one repository share the work. */
  const pending = new Map<string, Promise<History>>()
  const inTurn = pLimit(2)

  async function make(name: string, versions: readonly RepositoryVersion[], last: History | undefined) {
    const { base, changes } = selectChanges(versions)
    const shared = last === undefined ? 0 : countShared(last.commits, base, changes)
    const commits = last?.commits.slice(0, shared) ?? []
    const missing = [...(shared === 0 ? base : []), ...changes.slice(shared)]
    const [roots, descriptions] = [
      await trees.findRoots(missing),
      await readVersionDescriptions(context, toIds(missing)),
    ]
    const complete = (list: readonly PlacedVersion[]) =>
      list.flatMap((version): ScopeChange[] => {
        const [root, description] = [roots.get(version.digest), descriptions.get(version.id)]
        if (root === undefined || description === undefined) return []
        return [{ ...version, tree: root.id, isPluginRoot: root.isPluginRoot, description }]
      })
    const writer = createHistoryWriter({ name, base: complete(base), last: commits.at(-1) }, trees)
    let resumedAt = performance.now()
    for (const change of complete(changes.slice(shared))) {
      commits.push(writer.append(change))
      if (performance.now() - resumedAt < blockMs) continue
      await setImmediate()
      resumedAt = performance.now()
    }
    return { commits, repository: toRepository(commits) }
  }

  return {
    async open(name, versions) {
      const key = toKey(name, versions)
      const cached = histories.get(key)
      if (cached) return cached.repository
      let history = pending.get(key)
      if (!history) {
        const last = histories.peek(newest.get(name) ?? '')
        history = inTurn(() => make(name, versions, last)).finally(() => pending.delete(key))
        pending.set(key, history)
        histories.set(key, await history)
        newest.set(name, key)
      }
      return (await history).repository
    },
  }
}

function toIds(versions: readonly RepositoryVersion[]): string[] {
  return versions.map(({ id }) => id)
}

function toKey(name: string, versions: readonly RepositoryVersion[]): string {
  const hash = createHash('sha256').update(name)
  hash.update(versions.map((version) => `\n${toIdentity(version)}`).join(''))
  return hash.digest('base64')
}

/** Everything of a version on which its commit depends. The id is the one by which its files are read. */
function toIdentity({ owner, name, version, digest, publishedAt, id }: RepositoryVersion): string {
  return `${owner}/${name} ${version} ${digest} ${publishedAt} ${id}`
}

/** How many commits at the start of a history are also the first ones for these changes. */
function countShared(
  commits: readonly ScopeCommit[],
  base: readonly PlacedVersion[],
  changes: readonly PlacedVersion[],
) {
  const first = commits[0]?.base ?? []
  if (first.length !== base.length || !first.every((version, i) => isSame(version, base[i]))) return 0
  const differing = commits.findIndex(({ change }, i) => !isSame(change, changes[i]))
  return differing === -1 ? commits.length : differing
}

function isSame(a: PlacedVersion, b: PlacedVersion | undefined): boolean {
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
