import { isSecretVariable } from './known-places.ts'
import type { ShellRun } from './shell-run.ts'
import { empty, joinValues, toValue, unknown, withFacts, type Value } from './shell-value.ts'

/** The path of the script itself. */
export const ownPath = '$0'

const usual: ReadonlyMap<string, string> = new Map([
  ['HOME', '~'],
  ['ZDOTDIR', '~'],
  ['USERPROFILE', '~'],
  ['PWD', '.'],
  ['TMPDIR', '/tmp'],
  ['XDG_CONFIG_HOME', '~/.config'],
  ['XDG_DATA_HOME', '~/.local/share'],
  ['IFS', ' '],
  ['0', ownPath],
  ['BASH_SOURCE', ownPath],
])

/** The variables of a script. */
export class ShellVariables {
  readonly #run: ShellRun
  readonly #values = new Map<string, Value>()
  readonly #arrays = new Map<string, readonly Value[]>()
  #branches = 0

  constructor(run: ShellRun) {
    this.#run = run
  }

  read(name: string): Value {
    const value = this.#values.get(name)
    if (value) return value
    const elements = this.#arrays.get(name)
    if (elements) return name === '@' ? joinValues(elements, ' ') : (elements[0] ?? empty)
    const text = usual.get(name)
    if (text !== undefined) return toValue(text)
    if (!isSecretVariable(name)) return unknown
    return withFacts(unknown, [this.#run.fact('variable-read', name)])
  }

  readArray(name: string): readonly Value[] | undefined {
    return this.#arrays.get(name)
  }

  set(name: string, value: Value): void {
    const before = this.#branches > 0 ? this.#values.get(name) : undefined
    this.#arrays.delete(name)
    this.#values.set(name, before ? withFacts(value, before.facts) : value)
  }

  setArray(name: string, elements: readonly Value[]): void {
    this.#values.delete(name)
    this.#arrays.set(name, elements.slice(0, 1000))
  }

  /** Assigns what a branch assigns in addition to what the variables come from so far. */
  inBranch<T>(action: () => T): T {
    this.#branches++
    try {
      return action()
    } finally {
      this.#branches--
    }
  }

  /** Sets the arguments of a function. Returns what restores those of its caller. */
  pushArguments(args: readonly Value[]): () => void {
    const before = this.readArray('@')
    const set = (values: readonly Value[] | undefined) => {
      for (let at = 1; at <= 9; at++) {
        const value = values?.[at - 1]
        if (value) this.#values.set(String(at), value)
        else this.#values.delete(String(at))
      }
      if (values) this.#arrays.set('@', values)
      else this.#arrays.delete('@')
    }
    set(args)
    return () => set(before)
  }

  shiftArguments(): void {
    this.pushArguments((this.readArray('@') ?? []).slice(1))
  }
}
