import { isSkillName } from './names.ts'
import { cutList } from './terminal-text.ts'
import { isOneOf } from './typed-names.ts'

/**
 * What a client, which is a program that loads skills, reads of a SKILL.md, from the client's documentation or source.
 *
 * Compiled from these documents. Documents with a star were read again on 29 November 2026, some as stored copies of
 * the page; documents without a star were not reachable then:
 * - `agentskills`: https://agentskills.io/specification *, and its reference validator `skills-ref`
 * - `claude-code`: https://code.claude.com/docs/en/skills, "Frontmatter reference"; the same keys in
 *   https://github.com/ryoppippi/oxlint-plugin-agent-skills, src/rules/no-unknown-frontmatter-fields/README.md *
 * - `codex`: https://developers.openai.com/codex/skills *; its loader's messages in
 *   https://github.com/garrytan/gstack/issues/230 * and https://github.com/cashfree/agent-skills/issues/32 *
 * - `copilot`: https://github.com/microsoft/vscode,
 *   extensions/copilot/assets/prompts/skills/agent-customization/references/skills.md *
 * - `cursor`: https://www.cursor.com/docs/context/skills
 * - `gemini-cli`: https://github.com/google-gemini/gemini-cli, packages/core/src/skills/skillLoader.ts *
 * - `goose`: https://block.github.io/goose/docs/guides/context-engineering/using-skills *
 * - `omp`: https://github.com/can1357/oh-my-pi, docs/skills.md *, of its own folders; plugins in
 *   https://github.com/EveryInc/compound-engineering-plugin/issues/1411 *
 * - `openclaw`: https://docs.openclaw.ai/tools/skills and https://docs.openclaw.ai/clawhub/skill-format *
 * - `opencode`: https://opencode.ai/docs/skills *
 */
export interface SkillClient {
  /** The name of the client on the command line. */
  readonly id: string
  readonly title: string
  /** The keys that the client reads at the top level, other than `name` and `description`. */
  readonly reads: readonly string[]
  /** The keys that the client reads below `metadata`. */
  readonly readsMetadata?: readonly string[]
  /** The fields without which the client skips the skill. */
  readonly requires: readonly ('name' | 'description')[]
  /**
   * The check of names that makes the client skip a skill. `length`: longer than 64 characters. `pattern`: not in the
   * open format. `folder`: not in the open format, or not the name of the skill's folder.
   */
  readonly name?: 'length' | 'pattern' | 'folder'
  /** Maximum characters of the description; the client skips a skill with a longer one. */
  readonly descriptionMax?: number
  /** Characters to which the client cuts `description` and `when_to_use`, counted together. */
  readonly listedMax?: number
  /** How the client treats a skill with keys outside the open format. Default: it ignores the keys. */
  readonly otherKeys?: 'skips' | 'skips in plugins'
  /** Whether the client reads frontmatter that is not valid YAML line by line, instead of skipping the skill. */
  readonly isLenient?: true
}

/** The six keys of the open format. */
export const standardKeys = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'] as const

/** The known clients. Nodes store which clients load a skill: read `toLoadedBy` of core before changing this table. */
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

/** The frontmatter of a SKILL.md. */
export interface ReadFrontmatter {
  readonly frontmatter: Readonly<Record<string, unknown>>
  /** How the frontmatter was read. Default: `ok`, which means as valid YAML. */
  readonly frontmatterStatus?: 'ok' | 'repaired' | 'missing' | 'empty' | 'unterminated' | 'invalid'
}

/** Whether a client loads a skill, and which parts of the skill it cuts or ignores. */
export interface ClientReport {
  readonly client: string
  readonly title: string
  readonly loads: boolean
  /** Why the client skips the skill, or what it cuts and ignores: parts of a sentence that begins with `title`. */
  readonly notes: readonly string[]
}

/**
 * Reports whether a client of {@link skillClients} loads a skill; `folderName` is the name of the skill's folder.
 *
 * @example
 * skillClients.map((client) => reportClient(parseSkillMd(text), client))
 */
export function reportClient(skill: ReadFrontmatter, client: SkillClient, folderName?: string): ClientReport {
  const { id, title } = client
  const { loads, problems } = findClientProblems(skill, client, folderName)
  if (!loads) return { client: id, title, loads, notes: problems }
  const ignored = Object.keys(skill.frontmatter).filter(
    (key) => key !== 'name' && key !== 'description' && !client.reads.includes(key),
  )
  const { shown, more } = cutList(ignored, 10)
  const others = more > 0 ? ` and ${more} more` : ''
  const notes = [
    ...problems,
    ...(ignored.length > 0 ? [`ignores ${shown.map((key) => key.slice(0, 64)).join(', ')}${others}`] : []),
  ]
  if (client.otherKeys === 'skips in plugins' && hasOtherKeys(skill))
    notes.push('skips it in a plugin whose plugin.json names the schema of Agent Plugins')
  return { client: id, title, loads, notes }
}

/** Why a client skips a skill, or else what it cuts: parts of a sentence that begins with the title of the client. */
export function findClientProblems(
  skill: ReadFrontmatter,
  client: SkillClient,
  folderName?: string,
): { loads: boolean; problems: string[] } {
  const skips = listSkips(skill, client, folderName)
  if (skips.length > 0) return { loads: false, problems: skips.map((reason) => `skips it: ${reason}`) }
  return { loads: true, problems: listCuts(skill, client) }
}

function listSkips(skill: ReadFrontmatter, client: SkillClient, folderName: string | undefined): string[] {
  const { frontmatter, frontmatterStatus: status = 'ok' } = skill
  if (!client.isLenient && status !== 'ok' && status !== 'missing' && status !== 'empty')
    return ['its frontmatter is not valid YAML']
  const missing = client.requires.filter((key) => isBlank(frontmatter[key]))
  const skips = missing.map((key) => `it has no ${key}`)
  if (!isBlank(frontmatter['name'])) skips.push(...listNameSkips(String(frontmatter['name']), client, folderName))
  const description = String(frontmatter['description'] ?? '')
  if (client.descriptionMax !== undefined && countCharacters(description) > client.descriptionMax)
    skips.push(`its description is longer than ${client.descriptionMax} characters`)
  if (client.otherKeys === 'skips' && hasOtherKeys(skill)) skips.push('it has keys outside the open format')
  return skips
}

function listNameSkips(name: string, client: SkillClient, folderName: string | undefined): string[] {
  if (client.name === 'length') return countCharacters(name) > 64 ? ['its name is longer than 64 characters'] : []
  if (client.name === undefined) return []
  if (!isSkillName(name)) return ['its name is not 1 to 64 lower-case letters, digits and single hyphens']
  const differs = client.name === 'folder' && folderName !== undefined && folderName !== name
  return differs ? ['its name is not the name of its folder'] : []
}

function listCuts(skill: ReadFrontmatter, { listedMax = Number.POSITIVE_INFINITY }: SkillClient): string[] {
  const count = countListedCharacters(skill)
  return count > listedMax ? [`lists ${listedMax} of ${count} characters of description and when_to_use`] : []
}

/** The characters of `description` and `when_to_use`, which a client may list as one text. */
export function countListedCharacters({ frontmatter }: ReadFrontmatter): number {
  return countCharacters(frontmatter['description']) + countCharacters(frontmatter['when_to_use'])
}

function hasOtherKeys({ frontmatter }: ReadFrontmatter): boolean {
  return Object.keys(frontmatter).some((key) => !isOneOf(standardKeys, key))
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}

function countCharacters(value: unknown): number {
  return typeof value === 'string' ? [...value].length : 0
}
