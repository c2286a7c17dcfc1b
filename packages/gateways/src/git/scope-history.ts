import { toCommit, toSeconds, toTrees } from './git-objects.ts'
import type { Commit, DeltaObject, GeneratedObject, PackObject } from './repository.ts'
import { createScopeState, type ScopeChange, toTreeEntry } from './scope-state.ts'
import type { VersionTrees } from './version-trees.ts'

/** A commit of a repository with several skills. Only small things are in memory; texts are generated again. */
export interface ScopeCommit {
  readonly change: ScopeChange
  readonly previous: ScopeCommit | undefined
  /** What the repository had before its first commit, which contains it; empty for other commits. */
  readonly base: readonly ScopeChange[]
  readonly commit: Commit
  /** The generated trees and files, as in the state. */
  readonly texts: readonly GeneratedObject[]
  /** Memory, roughly. */
  readonly bytes: number
}

/** Makes the commits of changes one after another. */
export interface HistoryWriter {
  append(change: ScopeChange): ScopeCommit
}

/**
 * Continues after `last`, or starts with a commit that also contains `base`. `name`: the owner, or the slug of the pack.
 */
export function createHistoryWriter(
  { name, base, last }: { name: string; base: readonly ScopeChange[]; last: ScopeCommit | undefined },
  trees: VersionTrees,
): HistoryWriter {
  const state = createScopeState(name)
  const before = last ? listCurrent(last) : base
  for (const change of before) state.add(change)
  for (const { text } of state.texts) {
    for (const change of before) text.put(change)
    text.toHash()
  }
  let previous = last
  return {
    append(change) {
      state.add(change)
      const made = state.texts.map(({ text }) => text.change(change))
      const texts = made.map(({ id, size }, i): GeneratedObject => {
        return { kind: state.texts[i]!.kind, id, size, toBytes: () => generate(name, commit, i) }
      })
      const small = toTrees(state.texts.map((text, i) => toTreeEntry(text, texts[i]!.id))).toReversed()
      const by = { name, at: change.publishedAt }
      const message = `${change.owner}/${change.name} ${change.version}`
      const parent = previous?.commit.object.id
      const object = toCommit({ tree: small[0]!.id, parent, by, message })
      const added: PackObject[] = [...small]
      let bytes = commitBytes + change.description.length
      for (const [i, { id, delta }] of made.entries()) {
        const whole = texts[i]!
        const from = previous?.texts[i]!.id
        added.push(from === undefined ? whole : ({ kind: 'delta', id, base: from, bytes: delta, whole } as DeltaObject))
        bytes += delta.length
      }
      const readContent = async () => {
        const contents: PackObject[] = [...small, ...texts]
        for (const version of listCurrent(commit)) contents.push(...(await trees.readContent(version)))
        return contents
      }
      const readAdded = async () => [...added, ...(await trees.readContent(change))]
      const commit: ScopeCommit = {
        change,
        previous,
        base: previous ? [] : base,
        commit: { object, parent, timeSeconds: toSeconds(by), readContent, readAdded },
        texts,
        bytes,
      }
      previous = commit
      return commit
    },
  }
}

/** Memory of a commit without its deltas, as measured. */
const commitBytes = 4000

/** The versions that a commit contains. */
function listCurrent(last: ScopeCommit): ScopeChange[] {
  const current = new Map<string, ScopeChange>()
  const take = (change: ScopeChange) => {
    if (!current.has(change.folder)) current.set(change.folder, change)
  }
  for (let at: ScopeCommit | undefined = last; at; at = at.previous) {
    take(at.change)
    at.base.forEach(take)
  }
  return [...current.values()]
}

/** A generated tree or file of a commit. */
function generate(name: string, commit: ScopeCommit, index: number): Uint8Array {
  const state = createScopeState(name)
  const current = listCurrent(commit)
  const { text } = state.texts[index]!
  for (const change of current) {
    state.add(change)
    text.put(change)
  }
  return text.toBytes()
}
