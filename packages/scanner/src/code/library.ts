import type { Evaluation } from './evaluate.ts'
import type { CodeReading } from './reading.ts'
import type { Code } from './syntax.ts'
import type { Scope, Value } from './values.ts'

/** A call of a function that is not defined in the code. */
export interface Call {
  readonly code: Code
  readonly args: readonly Value[]
  readonly named: ReadonlyMap<string, Value>
  readonly self: Value | undefined
  readonly scope: Scope
}

/** What a function of a library does; undefined if it does nothing special with these arguments. */
export type Effect = (call: Call, on: Evaluation) => Value | undefined

/** What is known of a language and its libraries. */
export interface Library {
  readonly language: 'python' | 'script'
  /** The part of a library that a name or path stands for, in one spelling. */
  toPath(path: string): string
  /** Names that need no definition. */
  readonly globals: ReadonlySet<string>
  /** By path: what the functions do. */
  readonly effects: ReadonlyMap<string, Effect>
  /** By name: what methods of unknown objects do. */
  readonly methods: ReadonlyMap<string, Effect>
  /** Values of paths. */
  value(path: string, code: Code, on: Evaluation): Value | undefined
}

/** What reads code that a program contains as a text. */
export interface InnerReaders {
  parse(language: 'python' | 'script', text: string): Code | undefined
  readShell(text: string): CodeReading
}
