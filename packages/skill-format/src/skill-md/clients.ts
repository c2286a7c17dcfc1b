import { isSkillName } from '@skillstead/protocol'
import type { ParsedSkillMd } from './types.ts'

/**
 * What a program that loads skills reads of a SKILL.md, from its documentation or source.
 *
 * Sources, read in November 2026; a client without one is not in the table:
 * - `agentskills`: https://agentskills.io/specification, and its reference validator `skills-ref`
 * - `claude-code`: https://code.claude.com/docs/en/skills, "Frontmatter reference"
 * - `codex`: https://developers.openai.com/codex/skills; its loader's messages in
 *   https://github.com/garrytan/gstack/issues/230 and https://github.com/cashfree/agent-skills/pull/34
 * - `copilot`: https://code.visualstudio.com/docs/agent-customization/agent-skills, "Header"
 * - `cursor`: https://www.cursor.com/docs/context/skills, and https://syllago.dev/using-syllago/providers/cursor/skills/
 * - `gemini-cli`: https://github.com/google-gemini/gemini-cli, packages/core/src/skills/skillLoader.ts
 * - `goose`: https://block.github.io/goose/docs/guides/context-engineering/using-skills
 * - `omp`: https://github.com/can1357/oh-my-pi, docs/skills.md; plugins in
 *   https://github.com/EveryInc/compound-engineering-plugin/issues/1411
 * - `openclaw`: https://docs.openclaw.ai/tools/skills and https://docs.openclaw.ai/clawhub/skill-format
 * - `opencode`: https://opencode.ai/docs/skills
 */
export interface SkillClient {
  /** Its name on the command line. */
  readonly id: string
  readonly title: string
  /** The keys that it reads at the top level, other than `name` and `description`. */
  readonly reads: readonly string[]
  /** The keys that it reads below `metadata`. */
  readonly readsMetadata?: readonly string[]
  /** The fields without which it skips the skill. */
  readonly requires: readonly ('name' | 'description')[]
  /** Skips the skill where the name is longer than 64 characters, not of the open format, or not that of its folder. */
  readonly name?: 'length' | 'pattern' | 'folder'
  /** Skips the skill where the description is longer, in characters. */
  readonly descriptionMax?: number
  /** Cuts `description` and `when_to_use` together, in characters. */
  readonly listedMax?: number
  /** What it does with a skill that has keys other than those of the open format, if not only to ignore them. */
  readonly otherKeys?: 'skips' | 'skips in plugins'
  /** Whether it reads a frontmatter that is not valid YAML line by line. */
  readonly isLenient?: true
}

/** The six keys of the open format. */
export const standardKeys = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'] as const

/** The clients whose reading of SKILL.md is known. */
export const skillClients: readonly SkillClient[] = [
  {
    id: 'agentskills',
    title: 'the validator of agentskills.io',
    reads: ['license', 'compatibility', 'metadata', 'allowed-tools'],
    requires: ['name', 'description'],
    name: 'folder',
    descriptionMax: 1024,
    otherKeys: 'skips',
  },
  {
    id: 'claude-code',
    title: 'Claude Code',
    reads: toKeys(
      'agent allowed-tools argument-hint arguments context disable-model-invocation disallowed-tools effort hooks',
      'model paths shell user-invocable when_to_use',
    ),
    requires: [],
    listedMax: 1536,
  },
  {
    id: 'codex',
    title: 'Codex',
    reads: ['metadata'],
    readsMetadata: ['short-description'],
    requires: ['name', 'description'],
    name: 'length',
    descriptionMax: 1024,
  },
  {
    id: 'copilot',
    title: 'VS Code and Copilot CLI',
    reads: ['argument-hint', 'context', 'disable-model-invocation', 'user-invocable'],
    requires: ['name', 'description'],
    name: 'folder',
    descriptionMax: 1024,
  },
  {
    id: 'cursor',
    title: 'Cursor',
    reads: ['license', 'compatibility', 'metadata', 'disable-model-invocation'],
    requires: ['name', 'description'],
  },
  { id: 'gemini-cli', title: 'Gemini CLI', reads: [], requires: ['name', 'description'], isLenient: true },
  { id: 'goose', title: 'goose', reads: [], requires: ['name', 'description'] },
  {
    id: 'omp',
    title: 'Oh My Pi',
    reads: ['alwaysApply', 'disable-model-invocation', 'globs', 'hide'],
    requires: ['description'],
    otherKeys: 'skips in plugins',
  },
  {
    id: 'openclaw',
    title: 'OpenClaw',
    reads: toKeys(
      'command-arg-mode command-dispatch command-tool disable-model-invocation homepage metadata user-invocable',
    ),
    readsMetadata: ['openclaw', 'clawdbot', 'clawdis'],
    requires: ['description'],
  },
  {
    id: 'opencode',
    title: 'opencode',
    reads: ['license', 'compatibility', 'metadata'],
    requires: ['name', 'description'],
    name: 'folder',
    descriptionMax: 1024,
  },
]

function toKeys(...lists: readonly string[]): string[] {
  return lists.flatMap((list) => list.split(' '))
}

/** What this registry reads: the fields of a skill's page, and the contract. */
const registry = {
  title: 'Skillstead',
  reads: ['inputs', 'outputs', 'version', 'category', 'keywords', 'tags'],
  readsMetadata: ['version', 'category', 'keywords', 'tags'],
} as const satisfies Partial<SkillClient>

/** Whether a client loads a skill, and what it does with the parts that it does not take as written. */
export interface ClientReport {
  readonly client: string
  readonly title: string
  readonly loads: boolean
  /** Why it skips the skill, what it cuts and what it ignores, as parts of a sentence that begins with its title. */
  readonly notes: readonly string[]
}

/**
 * Reports whether a client loads a skill; `folderName` is the name of the skill's folder. The table is
 * {@link skillClients}.
 *
 * @example
 * skillClients.map((client) => reportClient(parseSkillMd(text), client))
 */
export function reportClient(parsed: ParsedSkillMd, client: SkillClient, folderName?: string): ClientReport {
  const { id, title } = client
  const skips = listSkips(parsed, client, folderName)
  if (skips.length > 0) return { client: id, title, loads: false, notes: skips.map((reason) => `skips it: ${reason}`) }
  const ignored = Object.keys(parsed.frontmatter).filter(
    (key) => key !== 'name' && key !== 'description' && !client.reads.includes(key),
  )
  const others = ignored.length > 10 ? ` and ${ignored.length - 10} more` : ''
  const notes = [
    ...listCuts(parsed, client),
    ...(ignored.length > 0 ? [`ignores ${ignored.slice(0, 10).map(cutKey).join(', ')}${others}`] : []),
  ]
  if (client.otherKeys === 'skips in plugins' && hasOtherKeys(parsed))
    notes.push('skips it in a plugin whose plugin.json names the schema of Agent Plugins')
  return { client: id, title, loads: true, notes }
}

/** What to do with a key that is not in the open format, as sentences that name the clients which read it. */
export function adviseOnKey(key: string, value: unknown): string {
  const readers = [...skillClients, registry].filter(({ reads }) => (reads as readonly string[]).includes(key))
  const isAlsoBelow = readers.every(({ readsMetadata = [] }) => (readsMetadata as readonly string[]).includes(key))
  if (isAlsoBelow) return `Move it below 'metadata'${isNested(value) ? ', as one text' : ''}.`
  const skipping = skillClients.filter(({ otherKeys }) => otherKeys !== undefined)
  const skips = skipping.map(({ title, otherKeys }) => `${title} ${otherKeys!.replace('skips', 'skips such a skill')}`)
  const titles = readers.map(({ title }) => title)
  const verb = titles.length === 1 ? 'reads' : 'read'
  return `Leave it: ${joinWords(titles)} ${verb} it only at the top level. ${upperFirst(joinWords(skips))}; other clients ignore the key.`
}

/** What to do with a value below `metadata` that is not text. */
export function adviseOnMetadata(key: string, value: unknown): string {
  if (!isNested(value)) return 'Put it in quotes.'
  const reader = skillClients.find(({ readsMetadata }) => readsMetadata?.includes(key))
  if (reader) return `Leave it: ${reader.title} reads it so.`
  const isOfRegistry = (registry.reads as readonly string[]).includes(key)
  const isBelow = (registry.readsMetadata as readonly string[]).includes(key)
  if (isOfRegistry && !isBelow) return `Move it to the top level, where ${registry.title} reads it.`
  return Array.isArray(value) ? 'Write it as one text, with commas.' : 'Write it as one text.'
}

function listSkips(parsed: ParsedSkillMd, client: SkillClient, folderName: string | undefined): string[] {
  const { frontmatter, frontmatterStatus: status } = parsed
  if (!client.isLenient && status !== 'ok' && status !== 'missing' && status !== 'empty')
    return ['its frontmatter is not valid YAML']
  const missing = client.requires.filter((key) => isBlank(frontmatter[key]))
  const skips = missing.map((key) => `it has no ${key}`)
  if (!isBlank(frontmatter['name'])) skips.push(...listNameSkips(String(frontmatter['name']), client, folderName))
  const description = String(frontmatter['description'] ?? '')
  if (client.descriptionMax !== undefined && countCharacters(description) > client.descriptionMax)
    skips.push(`its description is longer than ${client.descriptionMax} characters`)
  if (client.otherKeys === 'skips' && hasOtherKeys(parsed)) skips.push('it has keys outside the open format')
  return skips
}

function listNameSkips(name: string, client: SkillClient, folderName: string | undefined): string[] {
  if (client.name === 'length') return countCharacters(name) > 64 ? ['its name is longer than 64 characters'] : []
  if (client.name === undefined) return []
  if (!isSkillName(name)) return ['its name is not 1 to 64 lower-case letters, digits and single hyphens']
  const differs = client.name === 'folder' && folderName !== undefined && folderName !== name
  return differs ? ['its name is not the name of its folder'] : []
}

function listCuts(parsed: ParsedSkillMd, { listedMax = Number.POSITIVE_INFINITY }: SkillClient): string[] {
  const count = countListed(parsed)
  return count > listedMax ? [`lists ${listedMax} of ${count} characters of description and when_to_use`] : []
}

/** The characters of `description` and `when_to_use`, which a client may list as one text. */
export function countListed({ frontmatter }: ParsedSkillMd): number {
  return countCharacters(frontmatter['description']) + countCharacters(frontmatter['when_to_use'])
}

function hasOtherKeys({ frontmatter }: ParsedSkillMd): boolean {
  return Object.keys(frontmatter).some((key) => !(standardKeys as readonly string[]).includes(key))
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function countCharacters(value: unknown): number {
  return typeof value === 'string' ? [...value].length : 0
}

function cutKey(key: string): string {
  return key.slice(0, 64)
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
