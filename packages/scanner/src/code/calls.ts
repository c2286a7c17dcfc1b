import { assign, put } from './assignments.ts'
import type { Evaluation } from './evaluate.ts'
import type { Call } from './library.ts'
import { readPath } from './members.ts'
import type { Code } from './syntax.ts'
import { textMethods } from './text-methods.ts'
import { gather, itemsMax, mix, nothing, Scope, withFacts, type Closure, type Value } from './values.ts'

const callsMax = 25
const depthMax = 6
/** Maximum number of callbacks that are called again at the end. */
const laterMax = 200

/** Methods that put their arguments into their object. */
const mutators = new Set(
  `append push unshift add extend update insert set setdefault write writestr appendleft put file splice assign attach
   writerow writelines add_field set_payload set_content add_attachment enqueue`.split(/\s+/),
)

/** Follows the calls of a program into its functions and those of libraries. */
export class Calls {
  readonly #on: Evaluation
  readonly #closures: Closure[] = []
  readonly #later: (() => void)[] = []
  readonly #returned: Value[][] = []
  #depth = 0

  constructor(on: Evaluation) {
    this.#on = on
  }

  define(code: Closure['code'], scope: Scope): Value {
    const closure = { code, scope, number: scope.changes.addNumber(), calls: 0 }
    this.#closures.push(closure)
    return { closure, facts: [], made: [] }
  }

  /** Takes a result of the function that is followed. */
  return(value: Value): void {
    this.#returned.at(-1)?.push(value)
  }

  /** Follows what the program leaves to others to call. */
  finish(): void {
    // A callback runs after the code around it, and sees variables that are defined after it.
    for (const call of this.#later.splice(0)) if (!this.#on.steps.areSpent) call()
    for (const closure of this.#closures) if (closure.calls === 0) this.#enter(closure, [], closure.owner)
  }

  /** The result of a call, with what it does. */
  call(callee: Value, call: Call): Value {
    const { args, named, self, code } = call
    const { library } = this.#on
    if (callee.closure) return this.#enter(callee.closure, args, self ?? callee.closure.owner, named)
    if (callee.isClass) {
      const init = callee.fields!.get('__init__') ?? callee.fields!.get('constructor')
      const instance: Value = { fields: callee.fields!, facts: [], made: [] }
      if (init?.closure) this.#enter(init.closure, args, instance, named)
      return instance
    }
    const all = [...args, ...named.values()]
    const effect = callee.path === undefined ? undefined : library.effects.get(callee.path)
    const known = effect?.(call, this.#on)
    if (known) {
      if (!known.items) this.#callBack(known, all, call)
      return known
    }
    if (callee.method !== undefined && self) {
      const result = textMethods.get(callee.method)?.(self, args)
      if (result) return withFacts(result, [])
      const found = effect ? undefined : library.methods.get(callee.method)?.(call, this.#on)
      if (found) {
        this.#callBack(found, all, call)
        return found
      }
      if (mutators.has(callee.method) && code.type === 'call' && code.callee.type === 'member') {
        this.#mutate(code.callee.of, self, all, call.scope)
      }
    }
    const facts = mix([...all, ...(self ? [self] : [])].map((value) => ({ ...nothing, facts: gather(value) }))).facts
    const path = callee.path === undefined ? undefined : `${callee.path}()`
    const result =
      path === undefined ? { facts, made: [] } : withFacts(readPath(path, code, this.#on), [{ facts, made: [] }])
    return this.#callBack(result, all, call)
  }

  #mutate(code: Code, self: Value, values: readonly Value[], scope: Scope): void {
    if (!self.items || code.type !== 'name' || self.items.length >= itemsMax) {
      return put(code, self, values, scope, this.#on)
    }
    const longer = { ...self, items: [...self.items, ...values] }
    scope.set(code.name, this.#on.steps.isInBranch ? withFacts(longer, values) : longer)
  }

  /** Calls the functions among arguments, with a value that stands for each of their parameters. */
  #callBack(result: Value, args: readonly Value[], call: Call): Value {
    const { library, steps } = this.#on
    const functions = args.filter(({ closure, path }) => closure || (path !== undefined && library.effects.has(path)))
    if (functions.length === 0 || this.#depth > depthMax) return result
    const { self } = call
    const given = withFacts(result, self ? [self] : [])
    this.#depth++
    const results = functions.map((one) => {
      const items = self?.items
      const list = items && one.closure ? items.slice(0, itemsMax) : [given]
      const each = list.map((item, index) => {
        if (index > 0 && steps.areSpent) return nothing
        const values = items ? [item, { ...nothing, number: index }] : [item, item, item]
        const inner = { ...call, args: values, named: new Map<string, Value>(), self: undefined }
        return steps.repeat(true, () => {
          const value = this.call(one, inner)
          if (one.closure && this.#later.length < laterMax) this.#later.push(() => void this.call(one, inner))
          return value
        })
      })
      return items ? { ...nothing, items: each } : (each[0] ?? nothing)
    })
    this.#depth--
    // `map` and `then` return what their function returns.
    return results.length === 1 ? withFacts(results[0]!, [result]) : withFacts(result, results)
  }

  /** Follows a function with arguments, unless it was followed too often. */
  #enter(closure: Closure, args: readonly Value[], self: Value | undefined, named?: ReadonlyMap<string, Value>): Value {
    const { steps } = this.#on
    const isFirst = closure.calls === 0
    if (!isFirst && (closure.calls > callsMax || steps.areSpent)) return mix(args)
    if (this.#depth > depthMax) return mix(args)
    closure.calls++
    closure.scope.changes.noteCall(closure.number)
    this.#depth++
    this.#returned.push([])
    steps.repeat(!isFirst, () => {
      const scope = new Scope(closure.scope)
      this.#bind(closure, args, self, named, scope)
      steps.enter(() => this.#on.evaluate(closure.code.body, scope))
    })
    const returned = this.#returned.pop()!
    this.#depth--
    return withFacts(returned.find((value) => value !== nothing) ?? nothing, returned)
  }

  /** Assigns the arguments of a call to the parameters of a function. */
  #bind(
    { code: { parameters } }: Closure,
    args: readonly Value[],
    self: Value | undefined,
    named: ReadonlyMap<string, Value> | undefined,
    scope: Scope,
  ): void {
    const [first] = parameters
    const isMethod = first?.type === 'name' && (first.name === 'self' || first.name === 'cls')
    const values = isMethod && self ? [self, ...args] : args
    if (self) scope.define('this', self)
    for (const [index, parameter] of parameters.entries()) {
      const name = parameter.type === 'name' ? parameter.name : undefined
      const target = parameter.type === 'assign' && parameter.target.type === 'name' ? parameter.target.name : name
      const value = named?.get(target ?? '') ?? values[index] ?? nothing
      const rest = parameter.type === 'spread' ? { ...nothing, items: values.slice(index) } : value
      assign(parameter, rest, scope, this.#on, true)
    }
  }
}
