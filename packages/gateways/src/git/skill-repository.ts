import { isSliceOver, nextSlice, type SkillHistory } from '@skillstead/core/internal'
import { compareVersions } from '@skillstead/protocol'
import { toCommit, toUnixSeconds, toTag } from './git-objects.ts'
import { type Commit, mainRef, type Ref, type Repository, type Tag } from './repository.ts'
import type { ForRequest, VersionTrees } from './version-trees.ts'

/**
 * The history of a skill as a repository: a commit for each version that is not recalled, a tag for each version that
 * is offered, and the latest version as main. All objects depend only on what was published, so that every node
 * computes the same ids, and a transfer of the skill does not change them.
 */
export async function toSkillRepository(
  history: SkillHistory,
  trees: VersionTrees,
  request: ForRequest,
): Promise<Repository> {
  const versions = history.versions.toSorted((a, b) => compareVersions(a.version, b.version))
  const roots = await trees.findRoots(versions, request)
  const commits = new Map<string, Commit>()
  const tags = new Map<string, Tag>()
  const refs: Ref[] = []
  /** The commits of the versions that are lower than the current one, lowest first. */
  const lower: { readonly publishedAt: number; readonly commit: string }[] = []
  for (const version of versions) {
    if (isSliceOver()) await nextSlice(request.signal)
    const tree = roots.get(version.digest)?.repositoryId
    // No commit may have the content of a recalled version: clients could fetch it by the commit's id.
    if (tree === undefined || version.isRecalled) continue
    const by = { name: version.publisher, at: version.publishedAt }
    const message = `${history.name} ${version.version}`
    const parent = lower.findLast(({ publishedAt }) => publishedAt <= version.publishedAt)?.commit
    const object = toCommit({ tree, parent, by, message })
    lower.push({ publishedAt: version.publishedAt, commit: object.id })
    const content = [{ id: version.id, digest: version.digest, folder: '' }]
    const own = { versions: content, isCumulative: false, texts: [], changedTexts: [] }
    commits.set(object.id, { object, parent, timeSeconds: toUnixSeconds(by), ...own })
    if (version.version === history.latestVersion) refs.push({ name: mainRef, id: object.id })
    if (!version.isOffered) continue
    const tag = toTag({ name: `v${version.version}`, commit: object.id, by, message })
    tags.set(tag.id, { object: tag, commit: object.id })
    refs.push({ name: `refs/tags/v${version.version}`, id: tag.id, peeled: object.id })
  }
  return { refs: refs.toSorted((a, b) => (a.name < b.name ? -1 : 1)), commits, tags }
}
