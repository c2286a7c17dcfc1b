import type { Match as Span } from '../../text/spans.ts'
import { toUtf8 } from '../decoders.ts'
import { gatherFacts, isHiding, nothing as noValue, textOf, type Value as ProgramValue } from '../values.ts'
import type { CodeFact, CodeFactKind, CodeReading } from '../reading.ts'
import { findSecretStore } from '../known-places.ts'
import { Recorder } from '../recorder.ts'
import { filters } from './filters.ts'
import { network } from './network.ts'
import { runFile, runners } from './runners.ts'
import { Call, type Program, type ProgramRow } from './shell-call.ts'
import { ShellFiles, ShellVariables, type Shell } from './state.ts'
import { system, tellingCommands } from './system.ts'
import { parseScript, toTyped } from './shell-syntax.ts'
import type { Assignment, Command, Redirection, Script, SyntaxNode } from './shell-syntax.ts'
import {
  dependOn,
  empty,
  findHiding,
  isKnown,
  joinValues,
  session,
  toShellValue,
  transformValue,
  unknown,
  unknownPart,
  withFacts,
  type Value,
} from './value.ts'
import { expandFields, expandParts, expandPieces, expandText, findDisguise, toFields } from './shell-words.ts'

/** Reads a program in another language that a script contains. */
export type ReadOther = (language: 'python' | 'script', text: string) => CodeReading

/**
 * Reads what a shell script does: its facts, the flows between them, and the texts that it computes. Follows variables,
 * pipes, files that the script writes, functions and code in strings. Takes linear time and never throws.
 */
export function readShellProgram(text: string, readOther?: ReadOther): CodeReading {
  const run = new ShellRun(toTyped(text), readOther)
  run.attempt(() => run.runAll())
  return run.record
}

/**
 * Reads a command that a program in another language runs: a line, or its words. Returns the facts that its output
 * comes from, too.
 */
export function readCommand(
  command: ProgramValue | readonly ProgramValue[],
  input: ProgramValue,
  readOther: ReadOther,
): { reading: CodeReading; output: readonly CodeFact[] } {
  const run = new ShellRun('', readOther)
  const words = 'facts' in command ? [command] : command
  if (words.some((word) => textOf(word).length > wordCharactersMax))
    run.record.cut = `A command was read up to its first ${wordCharactersMax} characters.`
  const given = 'facts' in command ? fromProgram(command) : command.map(fromProgram)
  const output = run.attempt(() => run.runForeign(given, fromProgram(input)))
  return { reading: run.record, output: output?.facts ?? [] }
}

const wordCharactersMax = 4096

function fromProgram(value: ProgramValue): Value {
  if (value === noValue) return empty
  return {
    text: toUtf8(textOf(value).slice(0, wordCharactersMax)),
    facts: gatherFacts(value),
    made: value.made.filter(isHiding),
  }
}

/** Maximum depth of substitutions, code in strings and calls of functions. */
const depthMax = 10
/** Maximum number of nodes that are run, and of characters of computed texts. */
const stepsMax = 60_000
const charactersMax = 1024 * 1024
const iterationsMax = 64
/** Maximum calls of one function, and of those calls whose arguments come from no facts. */
const callsMax = 32
const plainCallsMax = 4

/** Follows a script with values of which only a part is known. Takes every branch, and runs or writes nothing. */
class ShellRun implements Shell {
  readonly record = new Recorder()
  readonly files: ShellFiles
  readonly variables: ShellVariables
  readonly #readOther: ReadOther | undefined
  readonly #text: string
  readonly #functions = new Map<string, SyntaxNode>()
  readonly #calls = new Map<SyntaxNode, number>()
  readonly #active = new Set<SyntaxNode>()
  #depth = 0
  #steps = 0
  #characters = 0
  /** While code in a string is read: the position that all facts get. */
  #outer: Span | undefined
  /** The position of the code that is read. */
  #span: Span = { start: 0, end: 0 }
  /** The facts that the unknown parts of the code come from. */
  #unknown = unknown

  constructor(text: string, readOther: ReadOther | undefined) {
    this.#text = text
    this.#readOther = readOther
    this.files = new ShellFiles(this, text)
    this.variables = new ShellVariables(this)
  }

  attempt<T>(action: () => T): T | undefined {
    try {
      return action()
    } catch {
      this.record.cut ??= 'The code could not be read to its end.'
      return undefined
    }
  }

  runAll(): void {
    const { script, cut } = parseScript(this.#text)
    this.record.cut = cut
    this.#run(script, empty)
    // Other scripts may call the functions that the script itself does not call.
    for (const body of this.#functions.values()) if (!this.#calls.has(body)) this.#run(body, unknown)
  }

  runForeign(command: Value | readonly Value[], input: Value): Value {
    if (!('text' in command)) {
      const [name = empty, ...args] = command
      return this.runWords([name.text.startsWith(unknownPart) ? unknown : name, ...args], input)
    }
    this.#unknown = { ...unknown, facts: command.facts }
    return this.runCode(command, input)
  }

  literal(text: string): Value {
    return text.includes(unknownPart) ? { ...this.#unknown, text } : toShellValue(text)
  }

  get #place(): Span {
    return this.#outer ?? this.#span
  }

  fact(kind: CodeFactKind, value?: string): CodeFact {
    return this.record.add(kind, this.#place, value)
  }

  sink(kind: CodeFactKind, value: string | undefined, from: readonly Value[]): CodeFact {
    const fact = this.fact(kind, value)
    for (const { facts } of from) this.record.addFlows(facts, fact)
    return fact
  }

  showText(value: Value, isHidden = findHiding(value) !== undefined): void {
    if (isHidden && value.text.length > 3) this.record.addText(toUtf8(value.text), this.#place, value.made)
  }

  #run(node: SyntaxNode, input: Value): Value {
    if (this.#isExhausted(0)) return unknown
    switch (node.type) {
      case 'Script':
      case 'CompoundList':
      case 'AndOr':
        return this.#runList(node.commands, input)
      case 'Statement':
        return this.#run(node.command, input)
      case 'Pipeline':
        return node.commands.reduce((value, command) => this.#run(command, value), input)
      case 'Command':
        return this.#runCommand(node, input)
      case 'Redirected':
        return this.#output(node.redirects, this.#run(node.command, this.#input(node.redirects, input)))
      case 'If': {
        const branches = [node.clause, node.then, ...node.elif, ...(node.else ? [node.else] : [])]
        return this.variables.inBranch(() => this.#runList(branches, input))
      }
      case 'Elif':
        return this.#runList([node.clause, node.then], input)
      case 'While':
        return this.#runList([node.clause, node.body], input)
      case 'For':
      case 'Select':
        return this.#runLoop(node, input)
      case 'ArithmeticFor':
      case 'Subshell':
      case 'BraceGroup':
      case 'Coproc':
        return this.#run(node.body, input)
      case 'Case': {
        const branches = node.items.map(({ body }) => body)
        return this.variables.inBranch(() => this.#runList(branches, input))
      }
      case 'Function':
        this.#functions.set(node.name.value, node.body)
        return empty
      default:
        return empty
    }
  }

  /** Counts a step that computed a text of some length. Returns whether a limit is exceeded. */
  #isExhausted(characters: number): boolean {
    this.#steps++
    this.#characters += characters
    if (this.#steps <= stepsMax && this.#characters <= charactersMax) return false
    this.record.cut ??= 'The code takes too many steps; the rest was not read.'
    return true
  }

  #runList(nodes: readonly SyntaxNode[], input: Value): Value {
    const outputs = nodes.map((node) => this.#run(node, input)).filter((output) => output !== empty)
    return outputs.length === 0 ? empty : joinValues(outputs)
  }

  #runLoop(node: Extract<SyntaxNode, { type: 'For' | 'Select' }>, input: Value): Value {
    const values = node.wordlist?.flatMap((word) => expandFields(word, this)) ?? [this.variables.read('1')]
    const rounds = values.slice(0, iterationsMax)
    // The values beyond the limit are joined for one more round, because names of key files may be at the end of a
    // list.
    if (values.length > iterationsMax) rounds.push(joinValues(values.slice(iterationsMax), ' '))
    const outputs = rounds.map((value) => {
      this.variables.set(node.name.value, value)
      return this.#run(node.body, input)
    })
    return joinValues(outputs)
  }

  #runCommand(node: Command, input: Value): Value {
    if (!this.#outer) this.#span = { start: node.pos, end: node.end }
    const place = this.#place
    const words = this.#expandCommand(node)
    this.#span = place
    const given = this.#input(node.redirects, input)
    for (const each of node.prefix) if (each.type === 'Assignment') this.#assign(each)
    // `exec 3<>/dev/tcp/host/port` and `> file` have no command.
    const output = words.length === 0 ? given : this.runWords(words, given)
    return this.#output(node.redirects, output)
  }

  #expandCommand(node: Command): Value[] {
    if (!node.name) return []
    const pieces = expandPieces(node.name, this)
    const [first = empty, ...more] = toFields(pieces)
    const disguise = findDisguise(node.name, pieces, first)
    const words = [disguise ? withFacts(first, [this.fact('hidden-name', first.text)]) : first, ...more]
    for (const arg of node.args) {
      if (arg.type === 'Word') words.push(...expandFields(arg, this))
      else words.push(this.#assign(arg))
    }
    const line = joinValues(words, ' ')
    if (this.#isExhausted(line.text.length)) return []
    this.showText(disguise ? transformValue(line, 'concatenation', line.text) : line)
    return words
  }

  #assign({ name, value, append, index }: Assignment): Value {
    const elements = this.variables.readArray(name) ?? []
    if (value.type === 'ArrayValue') {
      const added = value.elements.flatMap((word) => expandFields(word, this))
      this.variables.setArray(name, append ? [...elements, ...added] : added)
      return toShellValue(name)
    }
    const given = expandText(value, this)
    const result = append ? joinValues([this.variables.read(name), given]) : given
    if (this.#isExhausted(result.text.length)) return unknown
    if (index) this.variables.setArray(name, [...elements, given])
    else this.variables.set(name, result)
    return joinValues([toShellValue(`${name}=`), result])
  }

  runWords(words: readonly Value[], input: Value): Value {
    const [name, ...args] = words
    if (!name || this.#isExhausted(0)) return empty
    const body = this.#functions.get(name.text)
    return body ? this.#callBody(body, args, input) : runProgram(name, args, input, this)
  }

  #callBody(body: SyntaxNode, args: readonly Value[], input: Value): Value {
    const calls = this.#calls.get(body) ?? 0
    const isPlain = [...args, input].every(({ facts }) => facts.length === 0)
    const result = dependOn([...args, input])
    if (this.#active.has(body) || calls >= (isPlain ? plainCallsMax : callsMax)) return result
    this.#calls.set(body, calls + 1)
    this.#active.add(body)
    const restore = this.variables.pushArguments(args)
    try {
      return this.#nest(() => this.#run(body, input)) ?? result
    } finally {
      this.#active.delete(body)
      restore()
    }
  }

  runCode(code: Value, input: Value): Value {
    if (!/\S/.test(code.text) || this.#isExhausted(code.text.length)) return unknown
    const { script, cut } = parseScript(code.text)
    this.record.cut ??= cut
    const outer = this.#outer
    this.#outer = this.#place
    try {
      return this.#nest(() => this.#run(script, input)) ?? unknown
    } finally {
      this.#outer = outer
    }
  }

  runOther(language: 'python' | 'script' | 'other', code: Value): readonly CodeFact[] {
    if (language === 'other' || !isKnown(code) || this.#isExhausted(code.text.length)) return []
    const reading = this.#readOther?.(language, code.text)
    return reading?.facts.map(this.record.adopt(reading, this.#place)) ?? []
  }

  /** Runs an action one level deeper; undefined if the maximum depth is reached. */
  #nest(action: () => Value): Value | undefined {
    if (this.#depth >= depthMax) return undefined
    this.#depth++
    try {
      return action()
    } finally {
      this.#depth--
    }
  }

  runScript(script: Script | undefined, input: Value = empty): Value {
    if (!script) return unknown
    const [outer, span] = [this.#outer, this.#span]
    // A substitution in backticks with escapes has a source of its own, to which the positions in it refer.
    if (script.source !== undefined) this.#outer = this.#place
    const output = this.#nest(() => this.#run(script, input)) ?? unknown
    this.#outer = outer
    this.#span = span
    return { ...output, text: output.text.replace(/\n+$/, '') || (isKnown(output) ? '' : unknownPart) }
  }

  openProcess(script: Script | undefined, operator: '<' | '>'): Value {
    if (operator === '<') return this.files.addPipe(this.runScript(script))
    return this.files.addPipe((input) => void this.runScript(script, input))
  }

  /** The input of a command after its redirections. */
  #input(redirects: readonly Redirection[], input: Value): Value {
    let value = input
    for (const redirect of redirects) {
      if (redirect.type === 'HereDoc') {
        const { parts, text } = redirect.body
        value = parts ? expandParts(parts, this) : this.literal(text)
      } else if (redirect.type === 'HereString') value = expandText(redirect.target, this)
      else if (redirect.operator === '<') value = this.files.read(expandText(redirect.target, this))
      else if (redirect.operator === '<&') value = this.files.readDescriptor(redirect.target?.value ?? '') ?? value
      else if (redirect.operator === '<>')
        this.files.openDescriptor(toDescriptor(redirect, 0), expandText(redirect.target, this))
    }
    return value
  }

  /** Writes the output of a command to the files of its redirections. Returns what is left for the next command. */
  #output(redirects: readonly Redirection[], output: Value): Value {
    let left = output
    for (const redirect of redirects) {
      if (redirect.type !== 'Redirect' || redirect.operator.startsWith('<')) continue
      const descriptor = toDescriptor(redirect, 1)
      const target = expandText(redirect.target, this)
      if (redirect.operator === '>&' && /^(?:\d+|-)$/.test(target.text)) {
        if (descriptor === '1' && (this.files.writeDescriptor(target.text, left) || target.text === '2')) left = empty
      } else if (descriptor === '1' || redirect.operator.startsWith('&')) {
        this.files.write(target, left, redirect.operator.endsWith('>>'))
        left = empty
      } else if (descriptor !== '2') this.files.openDescriptor(descriptor, target)
    }
    return left
  }
}

function toDescriptor({ descriptor }: Extract<Redirection, { type: 'Redirect' }>, otherwise: number): string {
  if (!descriptor) return String(otherwise)
  return descriptor.type === 'FileDescriptor' ? String(descriptor.value) : descriptor.name
}

interface Known {
  readonly taking: ReadonlySet<string>
  readonly run: Program
}

const rows: readonly ProgramRow[] = [...filters, ...network, ...runners, ...system]
const programs: ReadonlyMap<string, Known> = new Map(
  rows.flatMap(([names, taking, run]) => {
    const known = { taking: new Set(taking.split(/\s+/)), run }
    return names.split(/\s+/).map((name) => [name, known] as const)
  }),
)
const telling = Map.groupBy(
  tellingCommands.flatMap(([names, kind, line, value]) =>
    names.split(' ').map((name) => ({ name, kind, line, value })),
  ),
  ({ name }) => name,
)

/** Follows a call of a program by the tables of programs. Returns its output. */
function runProgram(name: Value, args: readonly Value[], input: Value, run: Shell): Value {
  const { text } = name
  if (text.startsWith(unknownPart)) {
    if (name.facts.length > 0) run.sink('dynamic-run', undefined, [name])
    return { ...dependOn([input, ...args]), made: [session] }
  }
  const hidden = name.facts.filter(({ kind }) => kind === 'decode' || kind === 'hidden-name')
  if (hidden.length > 0) run.sink('program-run', joinValues([name, ...args], ' ').text, [{ ...name, facts: hidden }])
  const program = text
    .slice(text.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.exe$/, '')
  const isSystem = !text.includes('/') || /^(?:\/|~\/\.\w)/.test(text)
  const known = programs.get(program)
  const call = new Call(program, args, input, run, known?.taking ?? new Set())
  if (isSystem && (known || telling.has(program))) return addCallFacts(call, (known?.run ?? runUnknown)(call))
  return text.includes('/') || run.files.has(text) ? runFile(name, args, input, run) : runUnknown(call)
}

/** A program that no table has prints its arguments and input, and the secrets that its arguments name. */
function runUnknown({ args, input, run }: Call): Value {
  const opened = args.filter(({ text }) => findSecretStore(text)).map((arg) => run.files.read(arg))
  return dependOn([input, ...args, ...opened])
}

/**
 * Records the facts that the arguments of a program show. Adds those of collected data to the output, and to a file
 * that the arguments name.
 */
function addCallFacts({ program, args, line, run }: Call, output: Value): Value {
  let told = output
  for (const { kind, line: pattern, value } of telling.get(program) ?? []) {
    const found = pattern.exec(line)
    if (!found) continue
    const shown = kind === 'secret-read' ? found[0] : line
    const fact = run.fact(kind, value === '' ? undefined : (value ?? `${program} ${shown}`.trim()))
    if (/^(?:secret-read|data-collected|environment-read)$/.test(kind)) told = withFacts(told, [fact])
    const file = kind === 'data-collected' && args.findLast(({ text }) => /\.\w{2,4}$/.test(text))
    if (file) run.files.write(file, withFacts(told, [fact]))
  }
  return told
}
