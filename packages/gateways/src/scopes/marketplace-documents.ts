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

/** The content of `.claude-plugin/marketplace.json` with zips, whose entries describe the plugins completely. */
export function toClaudeMarketplace(marketplace: Marketplace & { readonly skills: readonly MarketplaceSkill[] }) {
  return toClaudeDocument(marketplace, marketplace.skills.map(toClaudePlugin))
}

function toClaudeDocument({ name, owner, description }: Marketplace, plugins: readonly unknown[]) {
  return { name, owner: { name: owner }, metadata: { description }, plugins }
}

function toClaudePlugin({ name, description, version, owner, source }: MarketplaceSkill) {
  const common = { description, version, author: { name: owner }, strict: false }
  // In a repository, no arrays of skills: the program `skills` reads the folder of all skills again for each element.
  if ('folder' in source) return { name, source: `./${source.folder}`, ...common, skills: './' }
  return { name, source: { source: 'archive', ...source }, ...common, skills: ['./'] }
}

/** A generated file: a list that ends with a part for each skill, and the text around these parts. */
export interface DocumentForm {
  readonly path: string
  /** The texts before and after the list, in a repository whose skills have these plugin names. */
  toFrames(skills: PluginFacts): readonly [before: string, after: string]
  /** The text of one skill in the list. Starts with a separator; empty for a skill that the document leaves out. */
  toPart(skill: FolderSkill): string
}

type FolderSkill = MarketplaceSkill & { readonly source: { readonly folder: string } }

/**
 * The files of both marketplaces, whose first plugin is a bundle of all skills, and of the plugin with all skills, for a
 * repository with skills below `skills/`.
 * The text depends only on the marketplace and its skills, which are never none.
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
      // The skill's folder is the root of the plugin, whose hooks and servers Claude Code starts by itself.
      toPart: (skill) => (skill.isPluginRoot ? '' : partSeparator + JSON.stringify(toClaudePlugin(skill))),
    },
    {
      path: 'plugin.json',
      toFrames: (skills) => {
        // Codex wants the name of the plugin whose root has the manifest. Without a version, clients take the commit.
        const manifest = { name: toPluginName(name, skills), description, owner: marketplace.owner, skills }
        return [toPluginManifest(manifest), '']
      },
      toPart: () => '',
    },
  ]
}

/**
 * The text before each part of a document, so that a plugin is a line. Clients hash each version of a document in a
 * history, so documents have no more bytes than needed.
 */
const partSeparator = ',\n    '

const codexPolicy = {
  policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' },
  category: 'Skills',
}

/**
 * The root of the plugin is neither the repository, whose `plugin.json` has another name, nor the skill's folder: Codex
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

/** A placeholder for the parts of the list, which no other text contains. */
const mark = '\0'

function toFrames(document: unknown): [before: string, after: string] {
  return `${JSON.stringify(document, null, 2)}\n`.split(partSeparator + JSON.stringify(mark)) as [string, string]
}
