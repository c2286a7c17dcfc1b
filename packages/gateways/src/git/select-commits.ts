import { GitError } from './pkt-line.ts'
import { type Commit, findCommit, mainRef, type Repository, type Tag } from './repository.ts'
import type { FetchRequest } from './upload-request.ts'

/** The content of the response to a fetch. */
export interface Selection {
  /** All commits of the repository, oldest first. */
  readonly history: readonly Commit[]
  readonly commits: readonly Commit[]
  readonly tags: readonly Tag[]
  /** Commits whose trees the client has, so that their objects are left out. */
  readonly known: readonly Commit[]
  /** Whether the base of a delta may be an object that the client has but the pack lacks. */
  readonly isThin: boolean
  /** See {@link FetchRequest.readsOffsets}. */
  readonly readsOffsets: boolean
  /** `shallow`: commits that the client must treat as root commits. `unshallow`: commits whose parents it now has. */
  readonly shallow: readonly string[]
  readonly unshallow: readonly string[]
}

/** The haves of a request that the repository has, in the order of the request. */
export function findCommon(repository: Repository, { haves }: FetchRequest): string[] {
  return [...haves].filter((id) => findCommit(repository, id) !== undefined)
}

/** Whether every wanted commit leads to one of the client (`common`): more haves could not make the pack smaller. */
export function isEnough(repository: Repository, { wants }: FetchRequest, common: readonly string[]): boolean {
  if (common.length === 0) return false
  // Commits from which a commit of the client is known to be reachable.
  const leading = new Set(common.map((id) => findCommit(repository, id)!))
  return [...wants].every((id) => {
    const walked: string[] = []
    for (const commit of walkCommits(repository, findCommit(repository, id))) {
      if (leading.has(commit)) {
        for (const passed of walked) leading.add(passed)
        return true
      }
      walked.push(commit)
    }
    return false
  })
}

/** Maximum number of wants beyond one per reference: for commits whose ids the client got in another way. */
const furtherWantsMax = 512

/** Selects the commits and tags for a request. Throws {@link GitError} for objects that are not in the repository. */
export function selectCommits(repository: Repository, request: FetchRequest): Selection {
  const most = repository.refs.length + furtherWantsMax
  if (request.wants.size > most) throw new GitError(`The request wants more than ${most} objects. Fetch fewer at once.`)
  const tips = [...request.wants].map((id) => getCommit(repository, id))
  const { reached, boundary } = cutHistory(repository, request, tips)
  const had = findHad(repository, request)
  // The reached commits that the client lacks. With a depth, these can be ancestors of commits that the client has.
  const commits = [...reached].filter((id) => !had.has(id)).map((id) => repository.commits.get(id)!)
  const sent = new Set(commits.map(({ object }) => object.id))
  const known = new Set(commits.map(({ parent }) => parent).filter((id) => id !== undefined && had.has(id)))
  return {
    history: [...repository.commits.values()],
    commits,
    tags: [...repository.tags.values()].filter(
      ({ object, commit }) => request.wants.has(object.id) || (request.includeTag && sent.has(commit)),
    ),
    known: [...known].map((id) => repository.commits.get(id!)!),
    isThin: request.isThin,
    readsOffsets: request.readsOffsets,
    shallow: isDeepening(request) ? [...boundary].filter((id) => !request.shallow.has(id)) : [],
    unshallow: isDeepening(request) ? [...request.shallow].filter((id) => reached.has(id) && !boundary.has(id)) : [],
  }
}

/** Whether the client asks to change where its shallow history ends. */
export function isDeepening({ depth, sinceSeconds, without }: FetchRequest): boolean {
  return depth !== undefined || sinceSeconds !== undefined || without.length > 0
}

interface Cut {
  /** The ids of the commits from the tips to the boundary. */
  readonly reached: ReadonlySet<string>
  /** The ids of the reached commits whose parents are not reached. */
  readonly boundary: ReadonlySet<string>
}

function cutHistory(repository: Repository, request: FetchRequest, tips: readonly string[]): Cut {
  const { depth, sinceSeconds } = request
  let reached: Set<string>
  if (!isDeepening(request)) {
    reached = takeWhile(repository, tips, (id) => !request.shallow.has(id))
  } else if (depth !== undefined && request.isRelative) {
    reached = takeWhile(repository, tips, (id) => !request.shallow.has(id))
    const starts = [...request.shallow].filter((id) => reached.has(id))
    for (const id of takeDepth(repository, starts, depth + 1)) reached.add(id)
  } else {
    reached = depth === undefined ? takeWhile(repository, tips, () => true) : takeDepth(repository, tips, depth)
    if (sinceSeconds !== undefined) {
      reached = keepCommits(reached, (id) => repository.commits.get(id)!.timeSeconds >= sinceSeconds)
    }
    const excluded = findExcluded(repository, request.without)
    reached = keepCommits(reached, (id) => !excluded.has(id))
    if (reached.size === 0) throw new GitError('no commits selected for shallow requests')
  }
  const boundary = keepCommits(reached, (id) => {
    const { parent } = repository.commits.get(id)!
    return parent !== undefined && !reached.has(parent)
  })
  return { reached, boundary }
}

/** The commits that the client has: its haves, and their history as far as the client has it. */
function findHad(repository: Repository, request: FetchRequest): Set<string> {
  const tips = findCommon(repository, request).map((id) => findCommit(repository, id)!)
  return takeWhile(repository, tips, (id) => !request.shallow.has(id))
}

function findExcluded(repository: Repository, names: readonly string[]): Set<string> {
  if (names.length === 0) return new Set()
  const refs = new Map<string, string>()
  for (const { name, id } of repository.refs) refs.set(name, id).set(name.split('/').slice(2).join('/'), id)
  const tips = names.map((name) => {
    const id = refs.get(name === 'HEAD' ? mainRef : name)
    if (id === undefined) throw new GitError(`deepen-not is not a ref: ${JSON.stringify(name.slice(0, 80))}`)
    return getCommit(repository, id)
  })
  return takeWhile(repository, tips, () => true)
}

/** The tips and their ancestors; the parent of a commit is taken only if `continues` is true for the commit. */
function takeWhile(repository: Repository, tips: readonly string[], continues: (id: string) => boolean): Set<string> {
  const taken = new Set<string>()
  for (const tip of tips) {
    for (const id of walkCommits(repository, tip)) {
      if (taken.has(id)) break
      taken.add(id)
      if (!continues(id)) break
    }
  }
  return taken
}

/** The commits of the tips and their ancestors, down to `depth` commits in each line, including the tip. */
function takeDepth(repository: Repository, tips: readonly string[], depth: number): Set<string> {
  const taken = new Set<string>()
  let level = tips
  for (let at = 0; at < depth && level.length > 0; at++) {
    const next: string[] = []
    for (const id of level) {
      // A commit that was taken before was nearer to a tip, so its ancestors within the depth are taken as well.
      if (taken.has(id)) continue
      taken.add(id)
      const { parent } = repository.commits.get(id)!
      if (parent !== undefined) next.push(parent)
    }
    level = next
  }
  return taken
}

function* walkCommits({ commits }: Repository, tip: string | undefined): Generator<string> {
  for (let id = tip; id !== undefined; id = commits.get(id)?.parent) yield id
}

function keepCommits(ids: ReadonlySet<string>, passes: (id: string) => boolean): Set<string> {
  return new Set([...ids].filter(passes))
}

function getCommit(repository: Repository, id: string): string {
  const found = findCommit(repository, id)
  if (found === undefined) throw new GitError(`upload-pack: not our ref ${id}`)
  return found
}
