import type { Command, Option } from './command.ts'
import { summaries } from './commands.ts'
import { styled, type Line } from './style.ts'

/**
 * The list of commands by what people want to do, the everyday things first. A word stands for the command of that name
 * and for all verbs of that noun.
 */
const sections: Readonly<Record<string, readonly string[]>> = {
  'Find skills, and use them': ['search', 'show', 'load', 'plan', 'diff', 'star', 'pack', 'requests'],
  'Install them': ['install', 'update', 'outdated', 'list', 'remove', 'verify', 'heartbeat', 'mcp'],
  'Write and publish': ['init', 'lint', 'scan', 'publish', 'yank', 'unyank', 'deprecate', 'fork', 'webhooks'],
  'You and your keys': ['login', 'logout', 'whoami', 'keys', 'completion'],
  'Run a node': ['start', 'serve', 'import', 'examples', 'users', 'external', 'key', 'rescan'],
  'Keep what it has': ['backup', 'restore', 'export', 'doctor', 'gc'],
  'Follow other registries, and do without a network': ['mirror', 'bundle'],
  'Look after what is on it': ['quarantine', 'reports', 'skills', 'verifications', 'dmca'],
}

/** What the verbs of a noun are about, where the noun is no command itself. */
const nouns: Readonly<Record<string, string>> = {
  pack: 'collections of skills',
  webhooks: 'who hears of what happens',
  keys: 'your API keys',
  users: 'who may sign in',
  external: 'skills of other registries',
  mirror: 'others’ skills',
  bundle: 'all of it in one file',
  quarantine: 'versions in quarantine',
  reports: 'reports of skills, and appeals',
  skills: 'flagged and hidden skills',
  verifications: 'who authors are',
  dmca: 'takedown cases',
}

/** The list of commands: a line for each, and one for all the verbs of a noun. */
export function showHelp(): Line[] {
  const listed = new Set(Object.values(sections).flat())
  const others = Object.keys(summaries).flatMap((name) => (listed.has(toNoun(name)) ? [] : toNoun(name)))
  const all = Object.entries({ ...sections, More: [...new Set(others)] })
  const blocks = all.map(([title, words]) => [title, words.filter(isWord).map(toLine)] as const)
  return [
    styled('heading', 'skillstead: the registry for agent skills'),
    ...blocks
      .filter(([, lines]) => lines.length > 0)
      .flatMap(([title, lines]) => ['', styled('heading', title), ...lines]),
    '',
    'Commands work on a running node (--url URL, or the one of `skillstead login`), on a folder (--data DIR) or on a',
    'database (--database-url URL), and take --json. `skillstead help COMMAND` shows its options.',
  ]
}

/** The verbs of a noun with what each does; undefined for what is no noun. */
export function showVerbs(noun: string): Line[] | undefined {
  const names = listVerbs(noun).map((verb) => `${noun} ${verb}`)
  if (names.length === 0) return undefined
  const width = Math.max(...names.map((name) => name.length))
  return [
    ...names.map((name) => `  ${name.padEnd(width)}  ${summaries[name]}`),
    '',
    `\`skillstead ${noun} VERB --help\` shows the options of one.`,
  ]
}

/** The verbs of a noun, in their order. */
export function listVerbs(noun: string): string[] {
  return Object.keys(summaries).flatMap((name) => (name.startsWith(`${noun} `) ? name.slice(noun.length + 1) : []))
}

const wordWidth = 14

function toNoun(name: string): string {
  return name.split(' ')[0]!
}

function isWord(word: string): boolean {
  return Object.hasOwn(summaries, word) || listVerbs(word).length > 0
}

function toLine(word: string): string {
  const verbs = listVerbs(word)
  const own = summaries[word] ?? nouns[word] ?? 'more'
  const said = verbs.length === 0 ? own : `${own}: ${word} ${verbs.join(', ')}`
  return `  ${word.padEnd(wordWidth)}  ${said}`
}

/** What one command takes. */
export function showCommandHelp(name: string, command: Command): Line[] {
  const options = Object.entries<Option>({ ...command.options, json: { help: 'print the result as one line of JSON' } })
  const heads = options.map(([option, { value }]) => `--${option}${value ? ` ${value}` : ''}`)
  const width = Math.max(...heads.map((head) => head.length))
  return [
    styled('heading', `skillstead ${[name, ...command.words].join(' ')}`),
    '',
    command.summary,
    '',
    ...options.map(([, { help }], i) => `  ${heads[i]!.padEnd(width)}  ${help}`),
  ]
}
