import type { ShellRun } from './shell-run.ts'
import type { SyntaxNode } from './shell-syntax.ts'
import { dependOn, toValue, unknown, type Value } from './shell-value.ts'

/** Calls of one function, and those of them whose arguments come from nowhere. */
const callsMax = 32
const plainCallsMax = 4

/** The functions and aliases of a script. */
export class ShellFunctions {
  readonly #run: ShellRun
  readonly #bodies = new Map<string, SyntaxNode>()
  readonly #aliases = new Map<string, Value>()
  readonly #calls = new Map<SyntaxNode, number>()
  readonly #active = new Set<SyntaxNode>()

  constructor(run: ShellRun) {
    this.#run = run
  }

  define(name: string, body: SyntaxNode): void {
    this.#bodies.set(name, body)
  }

  setAlias(name: string, value: Value): void {
    this.#aliases.set(name, value)
  }

  /** Calls the function or alias. Returns its output; undefined if there is none of the name. */
  call(name: string, args: readonly Value[], input: Value): Value | undefined {
    const body = this.#bodies.get(name)
    if (body) return this.#callBody(body, args, input)
    const alias = this.#aliases.get(name)
    if (!alias) return undefined
    // An alias may name the program that it replaces.
    this.#aliases.delete(name)
    return this.#run.runWords([toValue('eval'), alias, ...args], input)
  }

  #callBody(body: SyntaxNode, args: readonly Value[], input: Value): Value {
    const calls = this.#calls.get(body) ?? 0
    const isPlain = [...args, input].every(({ facts }) => facts.length === 0)
    const result = dependOn([...args, input])
    if (this.#active.has(body) || calls >= (isPlain ? plainCallsMax : callsMax)) return result
    this.#calls.set(body, calls + 1)
    this.#active.add(body)
    const restore = this.#run.variables.pushArguments(args)
    try {
      return this.#run.nest(() => this.#run.run(body, input)) ?? result
    } finally {
      this.#active.delete(body)
      restore()
    }
  }

  /** Runs the functions that the script does not call: others may call them. */
  runOthers(): void {
    for (const body of this.#bodies.values()) if (!this.#calls.has(body)) this.#run.run(body, unknown)
  }
}
