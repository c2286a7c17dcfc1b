import type { Shell } from './state.ts'
import { empty, type Value } from './value.ts'

/** A command with its words. */
export class Call {
  readonly program: string
  readonly args: readonly Value[]
  readonly input: Value
  readonly run: Shell
  /** The arguments that are no options. */
  readonly rest: Value[] = []
  /** The names have their dashes. */
  readonly #options: { readonly name: string; readonly value: Value }[] = []
  readonly #taking: ReadonlySet<string>

  /** `taking` are the options that take a value: the rest of their argument, or the next argument. */
  constructor(program: string, args: readonly Value[], input: Value, run: Shell, taking: ReadonlySet<string>) {
    this.program = program
    this.args = args
    this.input = input
    this.run = run
    this.#taking = taking
    this.#split()
  }

  get line(): string {
    return this.args.map(({ text }) => text).join(' ')
  }

  /** The values of all options with one of the names. */
  all(...names: string[]): Value[] {
    return this.#options.filter(({ name }) => names.includes(name)).map(({ value }) => value)
  }

  option(...names: string[]): Value | undefined {
    return this.#options.find(({ name }) => names.includes(name))?.value
  }

  has(...names: string[]): boolean {
    return this.option(...names) !== undefined
  }

  /** The words after the options at the beginning, which are a command of their own. */
  get inner(): readonly Value[] {
    let at = 0
    while (this.args[at]?.text.startsWith('-')) at += this.#taking.has(this.args[at]!.text) ? 2 : 1
    return this.args.slice(at)
  }

  #split(): void {
    for (let at = 0; at < this.args.length; at++) {
      const arg = this.args[at]!
      const { text } = arg
      const equals = text.startsWith('--') ? text.indexOf('=') : -1
      if (text === '--') return void this.rest.push(...this.args.slice(at + 1))
      if (!text.startsWith('-') || text === '-') this.rest.push(arg)
      else if (equals !== -1) this.#add(text.slice(0, equals), part(arg, equals + 1))
      else if (this.#taking.has(text)) this.#add(text, this.args[++at])
      else if (text.startsWith('--')) this.#add(text)
      else at += this.#readLetters(arg, this.args[at + 1])
    }
  }

  #add(name: string, value: Value = empty): void {
    this.#options.push({ name, value })
  }

  /** Reads `-sSLo file`. Returns the number of arguments after `arg` that were read. */
  #readLetters(arg: Value, next: Value | undefined): number {
    const length = Math.min(arg.text.length, 40)
    for (let letter = 1; letter < length; letter++) {
      const name = `-${arg.text[letter]}`
      const isTaking = this.#taking.has(name)
      const isLast = letter + 1 === arg.text.length
      if (isTaking) this.#add(name, isLast ? next : part(arg, letter + 1))
      else this.#add(name)
      if (isTaking) return Number(isLast)
    }
    return 0
  }
}

const part = (value: Value, start: number): Value => ({ ...value, text: value.text.slice(start) })

/** What a program does; returns its output. */
export type Program = (call: Call) => Value

/** A program with its names and its options that take a value, each separated by white space. */
export type ProgramRow = readonly [names: string, taking: string, program: Program]
