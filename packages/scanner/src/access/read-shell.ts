import type { AccessLists } from './access-lists.ts'
import { addVariable } from './environment.ts'
import { addHostOf, readAddresses } from './hosts.ts'
import { readInstall } from './packages.ts'
import { parseShell, type ShellCommand } from './parse-shell.ts'
import { controlWords, knownPrograms, runnerOptions, runners, shellBuiltins, shells } from './access-words.ts'
import { regex } from '../text/regex.ts'

/** Variables that a file sets and reads, over all its parts. */
export interface Scope {
  readonly assigned: Set<string>
  readonly read: Set<string>
  readonly functions: Set<string>
}

export function createScope(): Scope {
  return { assigned: new Set(), read: new Set(), functions: new Set() }
}

/** Variables that are read but not set by the file come from the environment. */
export function closeScope({ assigned, read }: Scope, lists: AccessLists): void {
  for (const name of read) if (!assigned.has(name)) addVariable(lists, name)
}

/** Maximum depth of scripts in arguments of commands. */
const depthMax = 3

/** Finds what a shell script uses: programs, packages, hosts, variables. Paths are read separately. */
export function readShell(text: string, lists: AccessLists, scope: Scope, depth = 0): void {
  const script = parseShell(text)
  for (const name of script.functions) scope.functions.add(name)
  for (const { name, operator } of script.reads) {
    // A default means that the environment may set the variable.
    if (operator !== '') addVariable(lists, name)
    else scope.read.add(name)
  }
  for (const command of script.commands) readCommand(command, lists, scope, depth)
}

/** Reads the words of one command. */
export function readWords(words: readonly string[], lists: AccessLists, scope: Scope, depth = 0): void {
  readCommand({ words: [...words] }, lists, scope, depth)
}

function readCommand({ words, input }: ShellCommand, lists: AccessLists, scope: Scope, depth: number): void {
  const start = skipPrefix(words, lists, scope)
  const first = words[start]
  // `name = value` of a configuration.
  if (first === undefined || words[start + 1] === '=') return
  const args = words.slice(start + 1)
  if (readBuiltin(first, args, lists, scope, depth)) return
  const program = toProgram(first)
  if (program === undefined || scope.functions.has(program)) return
  lists.add('commands', program)
  if (program === 'printenv' || (program === 'env' && args.length === 0)) lists.add('environment', args[0] ?? '*')
  readInstall(program, args, lists)
  readHosts(program, args, lists)
  if (depth < depthMax) readNested(program, args, input, lists, scope, depth)
}

/** Skips what precedes a command: keywords, assignments, programs that run it. */
function skipPrefix(words: readonly string[], lists: AccessLists, scope: Scope): number {
  let at = 0
  for (;;) {
    const word = words[at]
    if (word === undefined) return at
    const assigned = assignment.exec(word)?.[1]
    if (assigned !== undefined) scope.assigned.add(assigned)
    else if (runners.has(word) && words[at + 1] !== undefined) at = skipRunner(words, at, lists)
    else if (!controlWords.has(word)) return at
    at++
  }
}

function skipRunner(words: readonly string[], at: number, lists: AccessLists): number {
  const runner = words[at]!
  if (!shellBuiltins.has(runner) && runner !== 'command' && runner !== 'builtin') lists.add('commands', runner)
  let last = at
  while (words[last + 1]?.startsWith('-')) last += runnerOptions.has(words[last + 1]!) ? 2 : 1
  return last + runners.get(runner)!
}

/** Whether the word is a shell builtin; records what it sets, reads or runs. */
function readBuiltin(word: string, args: readonly string[], lists: AccessLists, scope: Scope, depth: number): boolean {
  if (!shellBuiltins.has(word)) return false
  if (word === 'eval' && depth < depthMax) readShell(args.join(' '), lists, scope, depth + 1)
  if (word === 'for' || word === 'select' || word === 'read' || word === 'mapfile' || word === 'readarray') {
    for (const name of args) if (variableName.test(name)) scope.assigned.add(name)
  }
  if (declarations.has(word)) {
    for (const arg of args) {
      const [, name] = assignment.exec(arg) ?? []
      if (name !== undefined) scope.assigned.add(name)
      if (word === 'export') addVariable(lists, name ?? arg)
    }
  }
  if (word === 'trap' && depth < depthMax && args[0]?.includes(' ')) readShell(args[0], lists, scope, depth + 1)
  return true
}

const declarations: ReadonlySet<string> = new Set(['export', 'local', 'declare', 'typeset', 'readonly'])
const variableName = /^[A-Za-z_]\w{0,80}$/
const assignment = /^([A-Za-z_]\w{0,80})(?:\[[^\]]{0,40}\])?\+?=/

/** The program of a command, without its folder; undefined for the skill's own files and for invalid names. */
export function toProgram(word: string): string | undefined {
  const isPath = word.includes('/')
  if (isPath && !systemFolder.test(word)) return undefined
  const name = (isPath ? word.slice(word.lastIndexOf('/') + 1) : word).replace(/\.(?:exe|cmd)$/i, '')
  return programName.test(name) && !ownFile.test(name) && !notPrograms.has(name) ? name : undefined
}

const systemFolder = /^(?:\/|~\/\.[\w-]+\/(?:[\w.-]+\/){0,4}bin\/|~\/bin\/)/
const programName = /^(?:_?[a-z][a-z0-9_]*(?:[.+-][a-z0-9_]+)*|Rscript|R|Xvfb)$/
const ownFile = /\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl|md|json|ya?ml|txt|toml|csv|html?|log|env|sql|go|rs)$/
/** Words at the position of a command in texts that are not scripts. */
const notPrograms: ReadonlySet<string> = new Set([
  ...(['e.g', 'i.e', 'etc', 'example', 'name', 'output', 'usage', 'note'] as const),
  ...(['none', 'all', 'on', 'off', 'yes', 'no'] as const),
])

/** Programs that accept hosts without a scheme as arguments. */
const callers: ReadonlySet<string> = new Set(
  [
    'curl',
    'wget',
    'nc',
    'ncat',
    'netcat',
    'telnet',
    'ssh',
    'scp',
    'sftp',
    'rsync',
    'ping',
    'http',
    'https',
    'xh',
  ].concat(['aria2c', 'axel', 'websocat', 'wscat', 'grpcurl', 'dig', 'nslookup', 'mosh', 'ftp', 'whois']),
)

/** Programs that print or search for their arguments instead of calling them. */
const quoters: ReadonlySet<string> = new Set(['grep', 'rg', 'sed', 'awk', 'jq'])

function readHosts(program: string, args: readonly string[], lists: AccessLists): void {
  if (quoters.has(program)) return
  const isCaller = callers.has(program)
  for (const arg of args) {
    if (arg.includes('://')) readAddresses(arg, lists)
    else if (isCaller && !arg.startsWith('-') && !arg.startsWith('@') && hostLike.test(arg)) addHostOf(arg, lists)
  }
}

const hostLike = /^(?:[\w.-]{1,40}@)?(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?:[:/?]|$)/i

/** Reads scripts inside a command: an argument of a shell, of find or xargs, or a here-document. */
function readNested(
  program: string,
  args: readonly string[],
  input: string | undefined,
  lists: AccessLists,
  scope: Scope,
  depth: number,
): void {
  const next = depth + 1
  if (shells.has(program)) {
    const at = args.findIndex((arg) => /^-[a-z]*c$/.test(arg))
    const script = at === -1 ? input : args[at + 1]
    if (script !== undefined) readShell(script, lists, scope, next)
    return
  }
  if (program === 'find') return readExecs(args, lists, scope, next)
  if (subcommands.has(program)) {
    const at = args.indexOf('--')
    if (at !== -1) readWords(args.slice(at + 1), lists, scope, next)
  }
  if (input !== undefined) readAddresses(input, lists)
}

function readExecs(args: readonly string[], lists: AccessLists, scope: Scope, depth: number): void {
  for (let at = 0; at < args.length; at++) {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(args[at]!)) continue
    const begin = at + 1
    while (at < args.length && args[at] !== ';' && args[at] !== '+') at++
    readWords(args.slice(begin, at), lists, scope, depth)
  }
}

/** Programs that run another one after a double dash. */
const subcommands: ReadonlySet<string> = new Set(['op', 'doppler', 'direnv', 'dotenv', 'infisical', 'mise', 'strace'])

/** Whether a single line looks like a command: it begins with a known program and has arguments. */
export function isCommandLine(line: string): boolean {
  const first = commandStart.exec(line)?.[1]
  return first !== undefined && knownPrograms.has(first)
}

const commandStart = regex`^(sudo )?(?<program>[a-z][a-z0-9-]{0,30}|pip3|sqlite3|python3)
  ( +(?![=:.,;—–-] |is |are |to |and |or |the |a |in |for |with |of |on |can |will |was )\S|$)`
