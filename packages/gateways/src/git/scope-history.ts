import { isSliceOver, nextSlice } from '@skillstead/core/internal'
import type { GeneratedText } from './generated-text.ts'
import { toCommit, toUnixSeconds, toTrees } from './git-objects.ts'
import type { Commit, GeneratedObject, PackObject } from './repository.ts'
import { createScopeState, type ScopeChange, type ScopeState, toTreeEntry } from './scope-state.ts'
import { attributes, attributesEntry } from './version-trees.ts'

/** A commit of a repository with several skills. Its large texts are not in memory, but generated when read. */
export interface ScopeCommit {
  readonly change: ScopeChange
  readonly previous: ScopeCommit | undefined
  /** For the first commit, the versions before the first change, which it contains as well; empty for other commits. */
  readonly base: readonly ScopeChange[]
  readonly commit: Commit
  /** The generated trees and files, in the order that a scope's state has them. */
  readonly texts: readonly GeneratedObject[]
  /** Approximate memory in bytes. */
  readonly bytes: number
}

/** Makes the commits of changes one after another. */
export interface HistoryWriter {
  append(change: ScopeChange): ScopeCommit
}

/**
 * Opens a writer that continues a history after `last`, or, without `last`, starts one with a commit that also contains
 * `base`. `name`: the owner, or the slug of the pack.
 */
export async function openHistoryWriter({
  name,
  base,
  last,
}: {
  name: string
  base: readonly ScopeChange[]
  last: ScopeCommit | undefined
}): Promise<HistoryWriter> {
  const state = createScopeState(name)
  const states = state.texts.map(({ text }) => text)
  await addVersions(state, last ? listCurrent(last) : base, states)
  for (const text of states) text.toHash()
  const readers = states.map((_, i) => createTextReader(name, i))
  let previous = last
  return {
    append(change) {
      state.add(change)
      const made = state.texts.map(({ text }) => text.change(change))
      const texts = made.map(({ id, size }, i): GeneratedObject => {
        return { kind: state.texts[i]!.kind, id, size, toBytes: () => readers[i]!(commit) }
      })
      const entries = state.texts.map((text, i) => toTreeEntry(text, texts[i]!.id))
      const small = [...toTrees([attributesEntry, ...entries]).toReversed(), attributes]
      const by = { name, at: change.publishedAt }
      const message = `${change.owner}/${change.name} ${change.version}`
      const parent = previous?.commit.object.id
      const object = toCommit({ tree: small[0]!.id, parent, by, message })
      const changedTexts: PackObject[] = [...small]
      let bytes = commitBytes + change.description.length + change.keywords.join().length
      for (const [i, { id, delta }] of made.entries()) {
        const whole = texts[i]!
        const from = previous?.texts[i]!.id
        changedTexts.push(from === undefined ? whole : { kind: 'delta', id, base: from, bytes: delta, whole })
        bytes += delta.length
      }
      const added = previous ? [] : base
      const commit: ScopeCommit = {
        change,
        previous,
        base: added,
        commit: {
          object,
          parent,
          timeSeconds: toUnixSeconds(by),
          versions: [change, ...added],
          isCumulative: previous !== undefined,
          texts: [...small, ...texts],
          changedTexts,
        },
        texts,
        bytes,
      }
      previous = commit
      return commit
    },
  }
}

/** Memory of a commit in bytes, without its deltas and texts. Measured. */
const commitBytes = 4000

/** The current version of each folder in a commit. */
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

/** A state in which one generated file is up to date with a commit. */
interface TextState {
  readonly state: ScopeState
  commit: ScopeCommit
}

/** Returns a function that generates the file or tree number `index` as it is in a commit of the history. */
function createTextReader(name: string, index: number): (commit: ScopeCommit) => Promise<Uint8Array> {
  // The state after the last call. A pack reads a file in the order of the history, so each text is made from the one
  // before.
  let idle: TextState | undefined
  return async (commit) => {
    const from = idle
    // Removed while it is in use, so that a concurrent response starts from an empty state.
    idle = undefined
    const since = from && listSince(from.commit, commit)
    const { state } = since ? from : { state: createScopeState(name) }
    const { text } = state.texts[index]!
    await addVersions(state, since ?? listCurrent(commit), [text])
    idle = { state, commit }
    return text.toBytes()
  }
}

/**
 * The changes from one commit to a later one, oldest first. Undefined if starting from an empty state takes less work.
 */
function listSince(from: ScopeCommit, to: ScopeCommit): ScopeChange[] | undefined {
  const changes: ScopeChange[] = []
  for (let at: ScopeCommit | undefined = to; at !== from; at = at.previous) {
    if (at === undefined || changes.length > stepsMax) return undefined
    changes.push(at.change)
  }
  return changes.toReversed()
}

const stepsMax = 500

async function addVersions(
  state: ScopeState,
  changes: readonly ScopeChange[],
  texts: readonly GeneratedText<ScopeChange>[],
): Promise<void> {
  for (const change of changes) {
    state.add(change)
    for (const text of texts) text.put(change)
    if (isSliceOver()) await nextSlice()
  }
}
