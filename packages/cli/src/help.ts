import type { Command, Option } from './command.ts'
import { summaries } from './commands.ts'
import { styled, type Line } from './style.ts'

/**
 * Commands by task, most common first. A word stands for the command of that name and for all verbs of that noun.
 */
const sections: Readonly<Record<string, readonly string[]>> = {
  'Find and use skills': ['search', 'show', 'load', 'plan', 'diff', 'star', 'pack', 'requests'],
  'Install skills': ['install', 'update', 'outdated', 'list', 'remove', 'verify', 'heartbeat', 'mcp'],
  'Write and publish': ['init', 'lint', 'scan', 'publish', 'yank', 'unyank', 'deprecate', 'fork', 'webhooks'],
  'Your account': ['login', 'logout', 'whoami', 'keys', 'completion'],
  'Run a node': ['start', 'serve', 'import', 'examples', 'users', 'external', 'key', 'rescan'],
  'Back up and check': ['backup', 'restore', 'export', 'doctor', 'gc'],
  'Mirror other registries, also without a network': ['mirror', 'bundle'],
  Moderate: ['quarantine', 'reports', 'skills', 'verifications', 'dmca'],
}

/** Summaries of nouns that are not commands themselves. */
const nouns: Readonly<Record<string, string>> = {
  pack: 'collections of skills',
  webhooks: 'event notifications',
  keys: 'your API keys',
  users: 'user accounts',
  external: 'skills of other registries',
  mirror: 'upstreams',
  bundle: 'a registry in one signed file',
  quarantine: 'versions in quarantine',
  reports: 'reports of skills and appeals',
  skills: 'flag or hide a skill',
  verifications: 'author verification',
  dmca: 'takedown cases',
}

/** The list of commands: one line for each command or noun. */
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
    'Commands work on a running node (--url URL, default: the node of `skillstead login`), a folder (--data DIR) or a',
    'database (--database-url URL), and take --json. `skillstead help COMMAND` shows its options.',
  ]
}

/** The verbs of a noun with their summaries; undefined if there is no such noun. */
export function showVerbs(noun: string): Line[] | undefined {
  const names = listVerbs(noun).map((verb) => `${noun} ${verb}`)
  if (names.length === 0) return undefined
  const width = Math.max(...names.map((name) => name.length))
  return [
    ...names.map((name) => `  ${name.padEnd(width)}  ${summaries[name]}`),
    '',
    `\`skillstead ${noun} VERB --help\` shows the options of a verb.`,
  ]
}

/** The verbs of a noun, in table order. */
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
  const summary = verbs.length === 0 ? own : `${own}: ${word} ${verbs.join(', ')}`
  return `  ${word.padEnd(wordWidth)}  ${summary}`
}

/** The help of one command. */
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
