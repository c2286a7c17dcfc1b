import type { CodeFact, CodeFactKind } from './reading.ts'
import type { readCommand } from './shell/run.ts'
import type { Code } from './syntax.ts'
import type { Scope, Value } from './values.ts'

/** The state of a followed program, which the effects of library functions read and change. */
export interface Evaluator {
  readonly library: Library
  /** Contents that the code wrote to files, by path or by the value of an unknown path. */
  readonly files: Map<string | Value, Value>
  /** Whether the code that is followed is in a branch, which the program may skip. */
  readonly isInBranch: boolean
  evaluate(code: Code, scope: Scope): Value
  /** Follows a call. Returns its result. */
  call(callee: Value, call: Call): Value
  /** Records a fact at a place, and the flows of values into the fact. */
  record(kind: CodeFactKind, code: Code, value?: string, from?: readonly Value[]): CodeFact
  /** The fact that all environment variables are read, which counts only as the origin of a flow. */
  wholeEnvironment(code: Code): CodeFact
  /** Records a computed text, which the rules scan like a decoded text. */
  reveal(value: Value, code: Code): void
  /** Follows code that is in a text, in the scope of the code that runs it. */
  runText(language: Library['language'], text: string, code: Code, scope: Scope): Value
  /** Reads a command of a shell: a line, or its words. Returns the facts that its output comes from. */
  runCommand(command: Value | readonly Value[], input: Value, call: Call): readonly CodeFact[]
}

/** A call of a function that is not defined in the code. */
export interface Call {
  readonly code: Code
  readonly args: readonly Value[]
  readonly named: ReadonlyMap<string, Value>
  readonly self: Value | undefined
  readonly scope: Scope
}

/** The effect of a function of a library; undefined if it has no special effect with these arguments. */
export type Effect = (call: Call, on: Evaluator) => Value | undefined

/** Functions by their paths, or methods by name. */
export type EffectTable = ReadonlyMap<string, Effect>

/** The names, functions and methods of a language and its libraries. */
export interface Library {
  readonly language: 'python' | 'script'
  /** The usual spelling of a path of a library. */
  toPath(path: string): string
  /** Names that need no definition. */
  readonly globals: ReadonlySet<string>
  /** The effects of functions, by path. */
  readonly functions: EffectTable
  /** The effects of methods of unknown objects, by name. */
  readonly methods: EffectTable
  /** The value of a library path; undefined if the path stands only for itself. */
  value(path: string, code: Code, on: Evaluator): Value | undefined
}

/** The reader of code that a program contains as a text. */
export interface InnerReaders {
  parse(language: 'python' | 'script', text: string): Code | undefined
  readCommand: typeof readCommand
}

/**
 * Creates a table from rows of names with an effect. White space separates names, and `{a,b}.{c,d}` stands for `a.c`,
 * `a.d`, `b.c` and `b.d`.
 */
export function toTable(rows: readonly (readonly [names: string, effect: Effect])[]): EffectTable {
  return new Map(
    rows.flatMap(([names, effect]) =>
      names
        .trim()
        .split(/\s+/)
        .flatMap(expandChoices)
        .map((name) => [name, effect]),
    ),
  )
}

function expandChoices(name: string): string[] {
  const [, before, choices, after] = /^(.*)\{([^{}]*)\}(.*)$/.exec(name) ?? []
  return choices === undefined ? [name] : choices.split(',').flatMap((one) => expandChoices(`${before}${one}${after}`))
}
