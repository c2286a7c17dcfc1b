import { isRecord, isSkillName, isUsername, limits, type Requires } from '@skillstead/protocol'
import { isFilled, readKeyValue } from './key-value.ts'
import type { ParsedSkillMd, SkillWarning } from './types.ts'
import { parseVersionRange } from './version-range.ts'

/** The requirements in the frontmatter of a skill, and the faults in them. */
export interface FoundRequires {
  readonly requires: Requires
  /** Faults in `requires` and `metadata.requires`: a publish is refused for them. */
  readonly refusals: readonly SkillWarning[]
  /** Faults in other spellings, and keys that are not read. They do not prevent a publish. */
  readonly warnings: readonly SkillWarning[]
}

/** The requirements of a skill that requires nothing. */
export const noRequires: Requires = { skills: [], commands: [], mcpServers: [], env: [] }

/**
 * Reads what a skill requires. `metadata.requires` and `requires` are this registry's spelling: a list of skills, a
 * mapping of names to ranges, or a mapping with the keys `skills`, `commands`, `mcpServers` and `env`. These keys are
 * read too:
 * - `requires` below a client's key in `metadata`, as in `metadata.openclaw.requires`, with `bins` and `anyBins`;
 * - `depends`, `dependencies`, `depends-on`, `prerequisite-skills` and `required-skills`, from proposals for the format.
 * Skills that only these keys require are optional, because some authors mean packages or hints.
 */
export function readRequires(parsed: Pick<ParsedSkillMd, 'frontmatter' | 'keys'>): FoundRequires {
  const reading: Reading = {
    parsed,
    skills: new Map(),
    commands: new Set(),
    mcpServers: new Set(),
    env: new Set(),
    refusals: [],
    warnings: [],
    isFull: false,
  }
  for (const path of ['metadata.requires', 'requires']) {
    const value = readKeyValue(parsed.frontmatter, path)
    if (isFilled(value)) readMapping(reading, { path, isOptional: false }, value)
  }
  for (const client of clientKeys) {
    const given = readKeyValue(parsed.frontmatter, `metadata.${client}`)
    const value = isRecord(given) ? given['requires'] : undefined
    if (isRecord(value)) readMapping(reading, { path: `metadata.${client}`, isOptional: true }, value)
  }
  for (const path of otherSkillKeys.flatMap((key) => [`metadata.${key}`, key])) {
    const value = readKeyValue(parsed.frontmatter, path)
    if (isFilled(value)) readSkills(reading, { path, isOptional: true }, value)
  }
  const { skills, commands, mcpServers, env, refusals, warnings } = reading
  const requires = { skills: [...skills.values()], commands: [...commands], mcpServers: [...mcpServers], env: [...env] }
  return { requires, refusals, warnings }
}

/** Reads one requirement, such as `pdf`, `acme/pdf@^1.2.0` or `pdf >=1.0.0`; undefined if the text is none. */
export function parseRequirement(text: string): { name: string; range: string } | undefined {
  const [, name = '', , written = ''] = requirementPattern.exec(text.trim()) ?? []
  const range = parseRequiredRange(written.replace(/^\((.*)\)$/s, '$1'))
  return range && isSkillReference(name) ? { name, range: range.text } : undefined
}

const requirementPattern = /^@?([a-z0-9/-]+)(\s*@\s*|\s+|(?=[\^~<>=(]))?(.*)$/s
/** Keys in `metadata` of clients that read `requires` there. */
const clientKeys = ['openclaw', 'clawdbot', 'clawdis', 'moltbot', 'clawhub'] as const
/** Keys of proposals for the format, and of other programs. */
const otherSkillKeys = [
  ...(['dependencies', 'depends', 'depends-on', 'depends_on'] as const),
  ...(['prerequisite-skills', 'prerequisite_skills', 'required-skills', 'required_skills'] as const),
]
const keysOf = {
  skills: ['skills', 'skill'],
  commands: ['commands', 'bins', 'binaries', 'cli'],
  anyCommands: ['anyBins', 'anyCommands'],
  mcpServers: ['mcpServers', 'mcp-servers', 'mcp_servers', 'mcp'],
  env: ['env', 'environment', 'envVars', 'env-vars', 'env_vars'],
} as const
const knownKeys = new Set<string>(Object.values(keysOf).flat())
const itemPatterns = {
  commands: /^[\w.+@-]{1,64}(?: \| [\w.+@-]{1,64}){0,7}$/,
  mcpServers: /^[\w.@/-]{1,128}$/,
  env: /^[A-Za-z_]\w{0,127}$/,
} as const
type ItemKind = keyof typeof itemPatterns

interface Reading extends Record<ItemKind, Set<string>> {
  readonly parsed: Pick<ParsedSkillMd, 'frontmatter' | 'keys'>
  readonly skills: Map<string, Requires['skills'][number]>
  readonly refusals: SkillWarning[]
  readonly warnings: SkillWarning[]
  isFull: boolean
}

interface Place {
  /** The key, with its place below `metadata`. */
  readonly path: string
  readonly isOptional: boolean
}

function readMapping(reading: Reading, place: Place, value: unknown): void {
  if (!isRecord(value) || !Object.keys(value).some((key) => knownKeys.has(key)))
    return readSkills(reading, place, value)
  const read = (keys: readonly string[]) => keys.map((key) => value[key]).filter(isFilled)
  for (const skills of read(keysOf.skills)) readSkills(reading, place, skills)
  for (const kind of ['commands', 'mcpServers', 'env'] as const) {
    for (const items of read(keysOf[kind])) for (const item of listItems(items)) addItem(reading, place, kind, item)
  }
  for (const any of read(keysOf.anyCommands)) {
    const names = listItems(any).map(toName)
    if (names.length > 0) addItem(reading, place, 'commands', names.join(' | '))
  }
  const unknown = Object.keys(value).filter((key) => !knownKeys.has(key))
  if (unknown.length > 0 && !place.isOptional) {
    const shown = unknown.slice(0, 5).map((key) => `'${key.slice(0, 64)}'`)
    const message = `The keys ${shown.join(', ')} in '${place.path}' are not read. Use skills, commands, mcpServers and env.`
    addProblem(reading.warnings, reading, place, 'requires_unknown', message)
  }
}

function readSkills(reading: Reading, place: Place, value: unknown): void {
  for (const [name, written, isSaidOptional] of listRequirements(value)) {
    const found = written === undefined ? parseRequirement(name) : toRequirement(name, written)
    if (!found) {
      const shown = `${name}${written === undefined ? '' : `: ${written}`}`.slice(0, 100)
      const isName = isSkillReference(name.replace(/[\s@^~<>=(].*$/s, ''))
      const advice = isName
        ? `'${shown}' has no valid range. Write a range of versions such as ^1.2.0, ~1.2.0, >=1.0.0 or 1.2.3.`
        : `'${shown}' is not a skill. Write owner/name, with a range such as owner/name@^1.2.0.`
      addFault(reading, place, advice)
    } else if (isItself(reading, found.name)) {
      addFault(reading, place, `A skill cannot require itself: remove '${found.name}'.`)
    } else if (reading.skills.has(found.name)) {
      const { range } = reading.skills.get(found.name)!
      if (range !== found.range)
        addFault(reading, place, `'${found.name}' is required as ${range} and as ${found.range}. Keep one of them.`)
    } else if (hasRoom(reading, place, reading.skills.size)) {
      reading.skills.set(found.name, {
        ...found,
        ...((place.isOptional || isSaidOptional) && { optional: true as const }),
      })
    }
  }
}

/** Parses the range of a requirement; `latest` and no range mean any version. */
function parseRequiredRange(written: string) {
  return parseVersionRange(/^\s*(?:latest\s*)?$/.test(written) ? '*' : written)
}

function toRequirement(name: string, written: string) {
  const range = parseRequiredRange(written)
  const plain = name.replace(/^@/, '')
  return range && isSkillReference(plain) ? { name: plain, range: range.text } : undefined
}

/**
 * The names and ranges of requirements in any spelling. For an item that is a text, the name still contains the range.
 */
function listRequirements(value: unknown): (readonly [name: string, range?: string, isOptional?: boolean])[] {
  if (isRecord(value)) {
    const name = nameKeys.map((key) => value[key]).find(isFilled)
    if (name !== undefined) return [[toWrittenText(name), ...readEntry(value)]]
    return Object.entries(value).map(([key, entry]) => {
      if (!isRecord(entry)) return [key, toRangeText(entry)]
      // A mapping is an entry only if it has a key of entries; otherwise its range is invalid.
      const isEntry = Object.keys(entry).some((one) => entryKeys.has(one))
      const [range = '*', isOptional] = readEntry(entry)
      return [key, isEntry ? range : noText, isOptional]
    })
  }
  return listItems(value).flatMap((item) =>
    isRecord(item) ? listRequirements(item) : [[toWrittenText(item)] as const],
  )
}

function readEntry(entry: Record<string, unknown>): [range: string | undefined, isOptional: boolean] {
  const range = rangeKeys.map((key) => entry[key]).find(isFilled)
  const least = leastKeys.map((key) => entry[key]).find(isFilled)
  const isOptional = entry['optional'] === true || entry['required'] === false
  if (range !== undefined) return [toRangeText(range), isOptional]
  return [least === undefined ? undefined : `>=${toWrittenText(least)}`, isOptional]
}

/** The text that stands for a mapping or list which is no range. */
const noText = '{…}'

/** The text of a range; a list of one range is that range. */
function toRangeText(value: unknown): string {
  const [only, ...others] = Array.isArray(value) ? value : [value]
  if (!isFilled(value)) return ''
  return isFilled(only) && typeof only !== 'object' && others.length === 0 ? toWrittenText(only) : noText
}

const nameKeys = ['name', 'skill', 'slug', 'id']
const rangeKeys = ['range', 'version', 'versions']
const leastKeys = ['min-version', 'min_version', 'minVersion']
const entryKeys = new Set([...rangeKeys, ...leastKeys, 'optional', 'required'])

/** The items of a list, or of a text with commas or, without commas, spaces between them. */
function listItems(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.slice(0, entriesReadMax)
  if (isRecord(value)) return Object.keys(value).slice(0, entriesReadMax)
  const text = toWrittenText(value).slice(0, entriesReadMax * 64)
  return (/[,;\n]/.test(text) ? text.split(/[,;\n]/) : text.split(/\s+(?![<>=^~|(\d*])/))
    .map((item) => item.trim())
    .filter(Boolean)
}

const entriesReadMax = limits.requirementsMax * 2

function addItem(reading: Reading, place: Place, kind: ItemKind, item: unknown): void {
  if (isRecord(item) && (item['required'] === false || item['optional'] === true)) return
  const name = toName(item)
  if (!itemPatterns[kind].test(name)) addFault(reading, place, `'${name.slice(0, 100)}' is no valid name in ${kind}.`)
  else if (reading[kind].has(name) || hasRoom(reading, place, reading[kind].size)) reading[kind].add(name)
}

function toName(item: unknown): string {
  return toWrittenText(isRecord(item) ? (item['name'] ?? item['value'] ?? item['command']) : item).trim()
}

function hasRoom(reading: Reading, place: Place, count: number): boolean {
  if (count < limits.requirementsMax) return true
  if (!reading.isFull)
    addFault(reading, place, `There are more than ${limits.requirementsMax} entries. Remove some of them.`)
  reading.isFull = true
  return false
}

function isItself({ parsed }: Reading, name: string): boolean {
  return name === parsed.frontmatter['name']
}

/**
 * Reports a fault: a refusal in this registry's spelling, only a warning in other spellings, which may mean something
 * else.
 */
function addFault(reading: Reading, place: Place, message: string): void {
  const list = place.isOptional ? reading.warnings : reading.refusals
  if (list.length >= problemsMax) return
  addProblem(list, reading, place, 'requires_invalid', `${message} (in '${place.path}')`)
}

const problemsMax = 20

function addProblem(list: SkillWarning[], { parsed }: Reading, { path }: Place, code: string, message: string): void {
  const line = parsed.keys.get(path)?.line
  list.push({ code, message, ...(line !== undefined && { line }) })
}

function isSkillReference(text: string): boolean {
  const [first = '', name, ...rest] = text.split('/')
  if (name === undefined) return isSkillName(first)
  return rest.length === 0 && isUsername(first) && isSkillName(name)
}

function toWrittenText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
