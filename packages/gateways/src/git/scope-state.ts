import type { RepositoryVersion } from '@skillstead/core/internal'
import { toMarketplaceName } from '@skillstead/protocol'
import { createPluginFacts, type PluginFacts } from '@skillstead/skill-format/archives'
import { type DocumentForm, toMarketplaceForms } from '../scopes/marketplace-documents.ts'
import { createGeneratedText, type GeneratedText, type TextForm } from './generated-text.ts'
import type { TreeEntry } from './git-objects.ts'

/** A version as a change of a repository with several skills. */
export interface ScopeChange extends RepositoryVersion {
  /** The folder of the skill below `skills/`. */
  readonly folder: string
  /** The id of the version's root tree. */
  readonly tree: string
  readonly isPluginRoot: boolean
  /**
   * The description, license and keywords as in the version itself: the owner can change those of the skill later,
   * which would change the ids of old commits.
   */
  readonly description: string
  readonly license: string
  readonly keywords: readonly string[]
}

/** A generated tree or file of a repository. */
interface ScopeText {
  readonly path: string
  readonly kind: TextForm<ScopeChange>['kind']
  readonly text: GeneratedText<ScopeChange>
}

/** The content of a repository after some changes. `texts` are its generated trees and files, as ordered in commits. */
export interface ScopeState {
  readonly texts: readonly ScopeText[]
  /** Stores the data of a change that other texts need; called before the texts change. */
  add(change: ScopeChange): void
}

/** Creates the state of an empty repository. `name`: the owner, or the slug of the pack. */
export function createScopeState(name: string): ScopeState {
  const skills = createPluginFacts()
  const description = `Skills of ${name}`
  const documents = toMarketplaceForms({ name: toMarketplaceName(name), owner: name, description })
  return {
    texts: [
      { path: 'skills', kind: 'tree', text: createGeneratedText(treeForm) },
      ...documents.map((form): ScopeText => {
        return { path: form.path, kind: 'blob', text: createGeneratedText(toTextForm(form, skills)) }
      }),
    ],
    add: ({ folder, ...facts }) => skills.put(folder, facts),
  }
}

/** The entry of a generated tree or file in the root tree of a commit. */
export function toTreeEntry({ path, kind }: ScopeText, id: string): TreeEntry {
  return { path, id, kind: kind === 'tree' ? 'tree' : 'file' }
}

/** The tree with the folders of all skills. Git sorts a folder as if its name ended with a slash. */
const treeForm: TextForm<ScopeChange> = {
  kind: 'tree',
  toFrames: () => [Buffer.alloc(0), Buffer.alloc(0)],
  toKey: ({ folder }) => `${folder}/`,
  toPart: ({ folder, tree }) => Buffer.concat([Buffer.from(`40000 ${folder}\0`), Buffer.from(tree, 'hex')]),
}

/** The form of a generated document, which lists the skills in the order of their full names. */
function toTextForm({ toFrames, toPart }: DocumentForm, skills: PluginFacts): TextForm<ScopeChange> {
  return {
    kind: 'blob',
    toFrames: () => {
      const [before, after] = toFrames(skills)
      return [Buffer.from(before), Buffer.from(after)]
    },
    toKey: ({ owner, name }) => `${owner}/${name}`,
    toPart: ({ folder, owner, version, description, isPluginRoot }) => {
      const source = { folder: `skills/${folder}` }
      return Buffer.from(toPart({ name: folder, owner, version, description, source, isPluginRoot }))
    },
  }
}
