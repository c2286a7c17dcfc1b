import { toUtf8 } from './decoders.ts'
import type { CodeFact, CodeFactKind } from './reading.ts'
import type { ReadOther } from './shell.ts'
import { findDisguise } from './shell-disguise.ts'
import { ShellFiles } from './shell-files.ts'
import { ShellFunctions } from './shell-functions.ts'
import { runProgram } from './shell-programs.ts'
import { Recorder } from './recorder.ts'
import { applyInput, applyOutput } from './shell-redirects.ts'
import {
  parseScript,
  toReadFile,
  type AssignmentPrefix,
  type Command,
  type Script,
  type SyntaxNode,
} from './shell-syntax.ts'
import {
  empty,
  findHiding,
  isKnown,
  joinValues,
  toValue,
  transform,
  unknown,
  unknownPart,
  withFacts,
  type Value,
} from './shell-value.ts'
import { ShellVariables } from './shell-variables.ts'
import { expandFields, expandPieces, expandText, toFields, type WordSource } from './shell-words.ts'

/** The language of a program; `other` has no reader. */
export type Language = 'python' | 'script' | 'other'

/** The position of the code that is read. Code in strings has the position of its outermost string. */
interface Span {
  readonly start: number
  readonly end: number
}

/** Maximum depth of substitutions, code in strings and calls of functions. */
const depthMax = 10
/** Nodes that are run, and characters of computed texts. */
const stepsMax = 60_000
const charactersMax = 1024 * 1024
const iterationsMax = 64

/** Runs a script on values of which only a part is known. Every branch is taken, and nothing has an effect. */
export class ShellRun implements WordSource {
  readonly record = new Recorder()
  readonly files: ShellFiles
  readonly variables: ShellVariables
  readonly functions: ShellFunctions
  readonly #readOther: ReadOther | undefined
  readonly #text: string
  #depth = 0
  #steps = 0
  #characters = 0
  /** The position of everything while code in a string is read. */
  #outer: Span | undefined
  #span: Span = { start: 0, end: 0 }

  constructor(text: string, readOther: ReadOther | undefined) {
    this.#text = text
    this.#readOther = readOther
    this.files = new ShellFiles(this, text)
    this.variables = new ShellVariables(this)
    this.functions = new ShellFunctions(this)
  }

  runAll(): void {
    const { script, cut } = parseScript(this.#text)
    this.record.cut = cut
    this.run(script, empty)
    this.functions.runOthers()
  }

  get span(): Span {
    return this.#outer ?? this.#span
  }

  fact(kind: CodeFactKind, value?: string): CodeFact {
    return this.record.add(kind, this.span, value)
  }

  /** Records a fact that the facts lead to. */
  sink(kind: CodeFactKind, value: string | undefined, from: readonly Value[]): CodeFact {
    const fact = this.fact(kind, value)
    for (const { facts } of from) this.record.addFlows(facts, fact)
    return fact
  }

  /** Records a computed text, to be scanned like a decoded one. */
  showText(value: Value, isHidden = findHiding(value) !== undefined): void {
    if (isHidden && value.text.length > 3) this.record.addText(toUtf8(value.text), this.span, value.made)
  }

  /** Runs a node of the syntax tree. Returns its output. */
  run(node: SyntaxNode, input: Value): Value {
    if (this.#isExhausted(0)) return unknown
    switch (node.type) {
      case 'Script':
      case 'CompoundList':
        return this.#runList(node.commands, input)
      case 'Statement':
        return this.run(node.command, input)
      case 'AndOr':
        return this.#runList(node.commands, input)
      case 'Pipeline': {
        let value = input
        for (const command of node.commands) value = this.run(command, value)
        return value
      }
      case 'Command':
        return this.#runCommand(node, input)
      case 'Redirected': {
        const given = applyInput(node.redirects, input, this)
        return applyOutput(node.redirects, this.run(node.command, given), this)
      }
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
        return this.run(node.body, input)
      case 'Case': {
        const branches = node.items.map(({ body }) => body)
        return this.variables.inBranch(() => this.#runList(branches, input))
      }
      case 'Function':
        this.functions.define(node.name.value, node.body)
        return empty
      default:
        return empty
    }
  }

  /** Counts a step that computed a text of some length. */
  #isExhausted(characters: number): boolean {
    this.#steps++
    this.#characters += characters
    if (this.#steps <= stepsMax && this.#characters <= charactersMax) return false
    this.record.cut ??= 'The code takes too many steps; the rest was not read.'
    return true
  }

  #runList(nodes: readonly SyntaxNode[], input: Value): Value {
    const outputs = nodes.map((node) => this.run(node, input)).filter((output) => output !== empty)
    return outputs.length === 0 ? empty : joinValues(outputs)
  }

  #runLoop(node: Extract<SyntaxNode, { type: 'For' | 'Select' }>, input: Value): Value {
    const values = node.wordlist?.flatMap((word) => expandFields(word, this)) ?? [this.readVariable('1')]
    const outputs: Value[] = []
    for (const value of values.slice(0, iterationsMax)) {
      this.setVariable(node.name.value, value)
      outputs.push(this.run(node.body, input))
    }
    if (values.length > iterationsMax) {
      // Names of key files may stand at the end of a list.
      this.setVariable(node.name.value, joinValues(values.slice(iterationsMax), ' '))
      outputs.push(this.run(node.body, input))
    }
    return joinValues(outputs)
  }

  #runCommand(node: Command, input: Value): Value {
    if (!this.#outer) this.#span = { start: node.pos, end: node.end }
    const { span } = this
    const words = this.#expandCommand(node)
    this.#span = span
    const given = applyInput(node.redirects, input, this)
    for (const each of node.prefix) if (each.type === 'Assignment') this.#assign(each)
    // `exec 3<>/dev/tcp/host/port` and `> file` have no command.
    const output = words.length === 0 ? given : this.runWords(words, given)
    return applyOutput(node.redirects, output, this)
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
    this.showText(disguise ? transform(line, 'concatenation', line.text) : line)
    return words
  }

  /** Performs an assignment. Returns its text. */
  #assign({ name, value, append, index }: AssignmentPrefix): Value {
    if (value.type === 'ArrayValue') {
      const elements = value.elements.flatMap((word) => expandFields(word, this))
      this.variables.setArray(name, append ? [...(this.readArray(name) ?? []), ...elements] : elements)
      return toValue(name)
    }
    const given = expandText(value, this)
    const result = append ? joinValues([this.readVariable(name), given]) : given
    if (this.#isExhausted(result.text.length)) return unknown
    if (index) this.variables.setArray(name, [...(this.readArray(name) ?? []), given])
    else this.setVariable(name, result)
    return joinValues([toValue(`${name}=`), result])
  }

  /** Runs a command given as words: the program and its arguments. Returns its output. */
  runWords(words: readonly Value[], input: Value): Value {
    const [name, ...args] = words
    if (!name || this.#isExhausted(0)) return empty
    return this.functions.call(name.text, args, input) ?? runProgram(name, args, input, this)
  }

  /** Runs a text as shell code. Returns its output. */
  runCode(code: Value, input: Value): Value {
    if (!/\S/.test(code.text) || this.#isExhausted(code.text.length)) return unknown
    const { script, cut } = parseScript(code.text)
    this.record.cut ??= cut
    const outer = this.#outer
    this.#outer = this.span
    try {
      return this.nest(() => this.run(script, input)) ?? unknown
    } finally {
      this.#outer = outer
    }
  }

  /** Reads a program in another language. Returns its facts. */
  runOther(language: Language, code: Value): readonly CodeFact[] {
    if (language === 'other' || !isKnown(code) || this.#isExhausted(code.text.length)) return []
    const reading = this.#readOther?.(language, code.text)
    return reading ? this.record.adopt(reading, this.span) : []
  }

  /** The facts that an action adds. */
  factsOf(action: () => void): readonly CodeFact[] {
    const before = this.record.facts.length
    action()
    return this.record.facts.slice(before)
  }

  /** Runs something one level deeper; undefined if that is too deep. */
  nest(action: () => Value): Value | undefined {
    if (this.#depth >= depthMax) return undefined
    this.#depth++
    try {
      return action()
    } finally {
      this.#depth--
    }
  }

  readVariable(name: string): Value {
    return this.variables.read(name)
  }

  readArray(name: string): readonly Value[] | undefined {
    return this.variables.readArray(name)
  }

  setVariable(name: string, value: Value): void {
    this.variables.set(name, value)
  }

  runScript(script: Script | undefined, input: Value = empty): Value {
    if (!script) return unknown
    const outer = this.#outer
    // Positions in backticks with escapes are those of another text.
    if (script.source !== undefined) this.#outer = this.span
    const span = this.#span
    const first = script.commands.length === 1 ? toReadFile(script) : undefined
    const output = first
      ? this.files.read(expandText(first, this))
      : (this.nest(() => this.run(script, input)) ?? unknown)
    this.#outer = outer
    this.#span = span
    return { ...output, text: output.text.replace(/\n+$/, '') || (isKnown(output) ? '' : unknownPart) }
  }

  openProcess(script: Script | undefined, operator: '<' | '>'): Value {
    if (operator === '<') return this.files.addPipe(this.runScript(script))
    return this.files.addSink((input) => void this.runScript(script, input))
  }
}
