import { regex } from '../text/regex.ts'
import { forEachChild, parseScript, type Command, type SyntaxNode } from '../code/shell/shell-syntax.ts'
import type { AccessLists } from './access-lists.ts'
import { callers, knownPrograms, runnerOptions, runners, shellBuiltins, shells } from './access-words.ts'
import { readInstall } from './packages.ts'
import { addHostOf, readAddresses } from './references.ts'

/** Maximum depth of scripts in arguments of commands, and of substitutions in each other. */
const depthMax = 3
const substitutionsMax = 3
/** Maximum number of characters and nodes of a script, and of words of a command. */
const charactersMax = 256 * 1024
const nodesMax = 30_000
const wordsMax = 200

/** Finds what a shell script uses: programs, packages, hosts, variables. Paths are read separately. */
export function readShellAccess(text: string, lists: AccessLists, depth = 0): void {
  const commands: Command[] = []
  let nodes = 0
  let inner = 0
  const visit = (node: SyntaxNode): void => {
    if (++nodes > nodesMax || inner > substitutionsMax) return
    const isSubstitution = /^(?:Command|Parameter)Expansion$|^ProcessSubstitution$/.test(node.type)
    inner += Number(isSubstitution)
    if (node.type === 'Command') commands.push(node)
    else if (node.type === 'Function') lists.functions.add(node.name.value)
    else if (node.type === 'Assignment') lists.assigned.add(node.name)
    else if (node.type === 'For' || node.type === 'Select') lists.assigned.add(node.name.value)
    else if (node.type === 'SimpleExpansion') lists.read.add(node.text.slice(1))
    else if (node.type === 'ParameterExpansion') {
      // A default, as in `${NAME:-x}`, means that the environment may set the variable.
      if (node.operation?.type === 'Default') lists.addVariable(node.parameter)
      else lists.read.add(node.parameter)
    }
    // The parts of a word are parsed when they are visited.
    if (node.type !== 'Word' || /[$`(]/.test(node.text)) forEachChild(node, visit)
    inner -= Number(isSubstitution)
  }
  for (const script of parseAll(toPlainShell(text.slice(0, charactersMax)))) visit(script)
  if (nodes > nodesMax || text.length > charactersMax) lists.addCut('a part of a large script was not read', text)
  for (const command of commands) {
    const words = [...(command.name ? [command.name] : []), ...command.args].map((word) =>
      word.type === 'Word' ? word.value : word.text,
    )
    const input = command.redirects.flatMap((redirect) => (redirect.type === 'HereDoc' ? redirect.body.text : []))
    readCommandWords(words.slice(0, wordsMax), lists, depth, input.join('\n'))
  }
}

/**
 * Rewrites what a shell would misread in documents: `<placeholders>` and `choices|of|words`, which are neither
 * redirections nor pipes, and indented here-documents.
 */
function toPlainShell(text: string): string {
  const plain = /\r|^[ \t]/m.test(text) ? text.replace(/^[ \t]+|\r$/gm, '') : text
  if (!/[<|]/.test(plain)) return plain
  return plain.replace(
    /(?<!<)<([A-Za-z][\w /|.-]{0,40}(?<! ))>|(?<=[\w>\]"'])\|(?=([\w<"'[]{1,40}))/g,
    (found, name?: string, next?: string) => {
      if (name !== undefined) return String.raw`\<${name.replaceAll('|', String.raw`\|`)}\>`
      return knownPrograms.has(next!) ? found : `\\${found}`
    },
  )
}

/**
 * Parses a script. After a syntax error, the next line is parsed as the start of another script; unclosed quotes count
 * as letters. Parsing stops once the parsed texts reach a limit.
 */
function* parseAll(given: string): Generator<SyntaxNode> {
  let text = given
  for (let left = charactersMax / 2; ; left -= text.length) {
    const { script } = parseScript(text)
    const open = script.errors?.find(({ message }) => message.startsWith('unterminated'))
    if (open && left > 0) text = `${text.slice(0, open.pos)}\\${text.slice(open.pos)}`
    else {
      yield script
      const next = script.errors?.[0] ? text.indexOf('\n', script.errors[0].pos) : -1
      if (next === -1 || left <= 0) return
      text = text.slice(next + 1)
    }
  }
}

/** Reads the words of one command, with its here-documents. */
export function readCommandWords(words: readonly string[], lists: AccessLists, depth = 0, input = ''): void {
  const start = skipRunners(words, lists)
  const first = words[start]
  // `name = value` of a configuration.
  if (first === undefined || words[start + 1] === '=') return
  const args = words.slice(start + 1)
  if (shellBuiltins.has(first)) return readBuiltin(first, args, lists, depth)
  const program = toProgramName(first)
  if (program === undefined || lists.functions.has(program)) return
  lists.add('commands', program)
  if (program === 'printenv' || (program === 'env' && args.length === 0)) lists.add('environment', args[0] ?? '*')
  readInstall(program, args, lists)
  readHosts(program, args, lists)
  if (depth < depthMax) readNested(program, args, input, lists, depth + 1)
}

/** Returns the index of the program: skips assignments, and programs such as `sudo` that run their arguments. */
function skipRunners(words: readonly string[], lists: AccessLists): number {
  let at = 0
  for (;;) {
    const word = words[at]
    if (word === undefined) return at
    const skipped = runners.get(word)
    const assigned = assignment.exec(word)?.[1]
    if (assigned !== undefined) lists.assigned.add(assigned)
    else if (skipped === undefined || words[at + 1] === undefined) return at
    else {
      if (!shellBuiltins.has(word)) lists.add('commands', word)
      while (words[at + 1]?.startsWith('-')) at += runnerOptions.has(words[at + 1]!) ? 2 : 1
      at += skipped
    }
    at++
  }
}

function readBuiltin(word: string, args: readonly string[], lists: AccessLists, depth: number): void {
  if (word === 'eval' && depth < depthMax) readShellAccess(args.join(' '), lists, depth + 1)
  if (word === 'trap' && depth < depthMax && args[0]?.includes(' ')) readShellAccess(args[0], lists, depth + 1)
  const isSetting = /^(?:read|mapfile|readarray|export|local|declare|typeset|readonly)$/.test(word)
  for (const arg of isSetting ? args : []) {
    const name = assignment.exec(arg)?.[1]
    if (name !== undefined || (word.startsWith('read') && word !== 'readonly') || word === 'mapfile')
      lists.assigned.add(name ?? arg)
    if (word === 'export') lists.addVariable(name ?? arg)
  }
}

const assignment = /^([A-Za-z_]\w{0,80})(?:\[[^\]]{0,40}\])?\+?=/

/** The program of a command, without its folder; undefined for the skill's own files and for invalid names. */
export function toProgramName(word: string): string | undefined {
  const isPath = word.includes('/')
  if (isPath && !systemFolder.test(word)) return undefined
  const name = (isPath ? word.slice(word.lastIndexOf('/') + 1) : word).replace(/\.(?:exe|cmd)$/i, '')
  return programName.test(name) && !ownFile.test(name) && !noProgram.test(name) ? name : undefined
}

const systemFolder = /^(?:\/|~\/\.[\w-]+\/(?:[\w.-]+\/){0,4}bin\/|~\/bin\/)/
const programName = /^(?:_?[a-z][a-z0-9_]*(?:[.+-][a-z0-9_]+)*|Rscript|R|Xvfb)$/
const ownFile = /\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl|md|json|ya?ml|txt|toml|csv|html?|log|env|sql|go|rs)$/
/** Words that occur at the position of a command in texts that are not scripts. */
const noProgram = /^(?:e\.g|i\.e|etc|example|name|output|usage|note|none|all|on|off|yes|no)$/

function readHosts(program: string, args: readonly string[], lists: AccessLists): void {
  // These programs print or search for their arguments instead of contacting the hosts in them.
  if (/^(?:grep|rg|sed|awk|jq)$/.test(program)) return
  for (const arg of args) {
    if (arg.includes('://')) readAddresses(arg, lists)
    else if (callers.has(program) && !/^[-@]/.test(arg) && hostLike.test(arg)) addHostOf(arg, lists)
  }
}

const hostLike = /^(?:[\w.-]{1,40}@)?(?:[\w-]{1,63}\.){1,126}[a-z]{2,24}(?:[:/?]|$)/i
/** Programs that run the command after a double dash. */
const delegating = /^(?:op|doppler|direnv|dotenv|infisical|mise|strace)$/

/** Reads scripts inside a command: an argument of a shell or of find, or a here-document. */
function readNested(program: string, args: readonly string[], input: string, lists: AccessLists, depth: number): void {
  if (shells.has(program)) {
    const at = args.findIndex((arg) => /^-[a-z]*c$/.test(arg))
    return readShellAccess(at === -1 ? input : (args[at + 1] ?? ''), lists, depth)
  }
  if (program === 'find') {
    const found = args.join('\n').matchAll(/^-(?:exec|ok)(?:dir)?\n([^]*?)(?=\n[;+]$|$(?!\n))/gm)
    for (const { 1: command } of found) readCommandWords(command!.split('\n'), lists, depth)
  } else if (delegating.test(program) && args.includes('--'))
    readCommandWords(args.slice(args.indexOf('--') + 1), lists, depth)
  readAddresses(input, lists)
}

/** Whether a line looks like a command: a known program, and no next word that would continue a sentence. */
export function isCommandLine(line: string): boolean {
  const first = commandStart.exec(line)?.[1]
  return first !== undefined && knownPrograms.has(first)
}

const commandStart = regex`^(sudo )?(?<program>[a-z][a-z0-9-]{0,30}|pip3|sqlite3|python3)
  ( +(?![=:.,;—–-] |is |are |to |and |or |the |a |in |for |with |of |on |can |will |was )\S|$)`
