import { toPluginManifest, toPluginName, type PluginFacts } from '@skillstead/skill-format/archives'

/** Skills as the plugins of a marketplace of Claude Code or Codex. */
export interface Marketplace {
  /** The name after the `@` in `plugin install NAME@MARKETPLACE`: lower-case letters, digits and hyphens. */
  readonly name: string
  /** The owner, or the curator of the pack. */
  readonly owner: string
  readonly description: string
}

export interface MarketplaceSkill {
  /** The name of the plugin, unique in its marketplace. */
  readonly name: string
  readonly owner: string
  readonly version: string
  readonly description: string
  readonly source: PluginSource
  /** Whether a plugin with the skill's folder as its root would run or configure more than the skill. */
  readonly isPluginRoot?: boolean
}

/** Where the files of a skill are: a folder of the repository, such as `skills/pdf`, or a zip. */
type PluginSource =
  | { readonly folder: string }
  | {
      readonly url: string
      /** In hexadecimal. */
      readonly sha256: string
    }

/** The content of `.claude-plugin/marketplace.json` for plugins that are zips. Its entries describe them completely. */
export function toClaudeMarketplace(marketplace: Marketplace & { readonly skills: readonly MarketplaceSkill[] }) {
  return toClaudeDocument(marketplace, marketplace.skills.map(toClaudePlugin))
}

function toClaudeDocument({ name, owner, description }: Marketplace, plugins: readonly unknown[]) {
  return { name, owner: { name: owner }, metadata: { description }, plugins }
}

function toClaudePlugin({ name, description, version, owner, source }: MarketplaceSkill) {
  const common = { description, version, author: { name: owner }, strict: false }
  // A text, not an array, for a folder in a repository: for an array, the program `skills` reads the folder of all
  // skills again for each element.
  if ('folder' in source) return { name, source: `./${source.folder}`, ...common, skills: './' }
  return { name, source: { source: 'archive', ...source }, ...common, skills: ['./'] }
}

/** A generated JSON file: a list that ends with a part for each skill, and the text before and after the list. */
export interface DocumentForm {
  readonly path: string
  /** The texts before and after the list, in a repository whose skills have these plugin names. */
  toFrames(skills: PluginFacts): readonly [before: string, after: string]
  /** The text of one skill in the list. Starts with a separator; empty for a skill that the document leaves out. */
  toPart(skill: FolderSkill): string
}

type FolderSkill = MarketplaceSkill & { readonly source: { readonly folder: string } }

/**
 * The generated files of a repository with skills below `skills/`: the two marketplaces, whose first plugin is a bundle
 * of all skills, and the manifest of this bundle. The text depends only on the marketplace and its skills, of which
 * there is at least one.
 */
export function toMarketplaceForms(marketplace: Marketplace): DocumentForm[] {
  const { name, description } = marketplace
  return [
    {
      path: '.agents/plugins/marketplace.json',
      toFrames: (skills) => {
        const source = { source: 'local', path: './' }
        const bundle = { name: toPluginName(name, skills), description, source, ...codexPolicy, skills: './skills' }
        return toFrames({ name, interface: { displayName: name }, plugins: [bundle, mark] })
      },
      toPart: (skill) => partSeparator + JSON.stringify(toCodexPlugin(skill)),
    },
    {
      path: '.claude-plugin/marketplace.json',
      toFrames: (skills) => {
        // Claude Code finds the skills of the bundle in the folder `skills`.
        const bundle = { name: toPluginName(name, skills), description, source: './', strict: false }
        return toFrames(toClaudeDocument(marketplace, [bundle, mark]))
      },
      // Leaves out a skill with `isPluginRoot`: its folder is the root of the plugin, whose hooks and servers Claude
      // Code would start.
      toPart: (skill) => (skill.isPluginRoot ? '' : partSeparator + JSON.stringify(toClaudePlugin(skill))),
    },
    {
      path: 'plugin.json',
      toFrames: (skills) => {
        // Codex requires the name of the plugin whose root contains this manifest. It has no version, so clients take
        // the commit.
        const manifest = { name: toPluginName(name, skills), description, owner: marketplace.owner, skills }
        return [toPluginManifest(manifest), '']
      },
      toPart: () => '',
    },
  ]
}

/**
 * The text before each part of a document, so that each plugin is one line. Clients hash each version of a document in
 * a history, so documents have no more bytes than needed.
 */
const partSeparator = ',\n    '

const codexPolicy = {
  policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' },
  category: 'Skills',
}

/**
 * A plugin of Codex. Its root is the folder of all skills: the repository's `plugin.json` has another name, and Codex
 * finds no SKILL.md at a root.
 */
function toCodexPlugin({ name, description, version, source }: FolderSkill) {
  const [root, folder] = source.folder.split('/')
  return {
    name,
    description,
    version,
    source: { source: 'local', path: `./${root}` },
    ...codexPolicy,
    skills: `./${folder}`,
  }
}

/** A placeholder for the parts of the list. No other text contains it. */
const mark = '\0'

function toFrames(document: unknown): [before: string, after: string] {
  return `${JSON.stringify(document, null, 2)}\n`.split(partSeparator + JSON.stringify(mark)) as [string, string]
}
