import type { Call, Evaluator, InnerReaders, Library } from './library.ts'
import {
  assignValue,
  addFactsToRoot,
  readMember,
  readMemberPath,
  readSlice,
  selectVariable,
  toPythonCharacter,
} from './members.ts'
import { applyOperator } from './operators.ts'
import type { CodeFact, CodeFactKind } from './reading.ts'
import { Recorder } from './recorder.ts'
import type { Argument, Code } from './syntax.ts'
import { textMethods } from './text-methods.ts'
import {
  gatherFacts,
  itemsMax,
  mixValues,
  nothing,
  Scope,
  textOf,
  toTextValue,
  unknownPart,
  withFactsOf,
  type Closure,
  type Value,
} from './values.ts'

/** Maximum steps of repeated code: of all loops and calls together, and of one loop. The first pass is not counted. */
const extraStepsMax = 60_000
const loopStepsMax = 20_000
const callsMax = 25
const depthMax = 6
/** Maximum number of callbacks that are called a second time, at the end of the program. */
const laterMax = 200

/** Methods that put their arguments into their object. */
const mutators = new Set(
  `append push unshift add extend update insert set setdefault write writestr appendleft put file splice assign attach
   writerow writelines add_field set_payload set_content add_attachment enqueue`.split(/\s+/),
)

const nestedMax = 4
/** Maximum number of shell commands that are read. */
const commandsMax = 500

/** Whether code is a function or an import, which a program can use before its definition. */
function isHoisted(code: Code): boolean {
  if (code.type === 'block') return code.parts.length > 0 && code.parts.every((part) => isImport(part))
  return code.type === 'function' && code.name !== undefined
}

const isImport = (code: Code) => code.type === 'assign' && code.value.type === 'module'

/** Follows values through a program. */
export class Evaluation implements Evaluator {
  readonly library: Library
  readonly recorder: Recorder
  readonly #inner: InnerReaders
  readonly files = new Map<string | Value, Value>()
  readonly #closures: Closure[] = []
  readonly #later: (() => void)[] = []
  readonly #returned: Value[][] = []
  #place: Code | undefined
  #commands = 0
  #nested = 0
  #depth = 0
  #extraSteps = extraStepsMax
  #repeating = 0
  #branches = 0

  constructor(library: Library, recorder: Recorder, inner: InnerReaders) {
    this.library = library
    this.recorder = recorder
    this.#inner = inner
  }

  /** Follows a whole program: first in its order, then the functions that it does not call. */
  run(code: Code): void {
    this.evaluate(code, new Scope())
    this.#finish()
  }

  record(kind: CodeFactKind, code: Code, value?: string, from: readonly Value[] = []): CodeFact {
    const fact = this.recorder.add(kind, this.#place ?? code, value)
    for (const one of from) this.recorder.addFlows(gatherFacts(one), fact)
    return fact
  }

  wholeEnvironment(code: Code): CodeFact {
    return this.recorder.add('environment-read', this.#place ?? code, undefined, true)
  }

  reveal(value: Value, code: Code): void {
    if (value.text === undefined || value.made.length === 0 || value.text.length < 4) return
    this.recorder.addText(value.text.replaceAll(unknownPart, ' '), this.#place ?? code, value.made)
  }

  runText(language: Library['language'], text: string, code: Code, scope: Scope): Value {
    if (this.#nested >= nestedMax || language !== this.library.language) return nothing
    const inner = this.#inner.parse(language, text)
    if (!inner) return nothing
    const outer = this.#place
    this.#place ??= code
    this.#nested++
    const value = this.evaluate(inner, scope)
    this.#nested--
    this.#place = outer
    return value
  }

  runCommand(command: Value | readonly Value[], input: Value, { code, scope }: Call): readonly CodeFact[] {
    if (this.#commands++ >= commandsMax) {
      this.recorder.cut ??= `Only ${commandsMax} calls of commands were read.`
      return []
    }
    const { reading, output } = this.#inner.readCommand(command, input, (language, text) => {
      this.runText(language, text, code, scope)
      return new Recorder()
    })
    return output.map(this.recorder.adopt(reading, this.#place ?? code))
  }

  evaluate(code: Code, scope: Scope): Value {
    if (this.#repeating > 0) this.#extraSteps--
    switch (code.type) {
      case 'text':
        return { text: code.text, facts: [], made: [] }
      case 'number':
        return { number: code.number, facts: [], made: [] }
      case 'name':
        return (
          scope.find(code.name) ??
          (this.library.globals.has(code.name) ? readMemberPath(code.name, code, this) : nothing)
        )
      case 'module':
        return readMemberPath(code.path, code, this)
      case 'member': {
        const of = this.evaluate(code.of, scope)
        return selectVariable(readMember(of, this.evaluate(code.key, scope), code, this), of, code.key, this)
      }
      case 'slice':
        return readSlice(
          this.evaluate(code.of, scope),
          code.bounds.map((bound) => bound && this.evaluate(bound, scope)),
        )
      case 'call':
        return this.#call(code, scope)
      case 'operation':
        return applyOperator(code.operator, this.#all(code.parts, scope), this.library.language)
      case 'template': {
        const parts = this.#all(code.parts, scope)
        return toTextValue(parts.map(textOf).join(''), parts, ...(parts.length > 1 ? ['concatenation'] : []))
      }
      case 'list':
        return { items: this.#items(code.items, scope), facts: [], made: [] }
      case 'spread':
        return this.evaluate(code.of, scope)
      case 'map':
        return this.#map(code, scope)
      case 'function': {
        const value = this.#define(code, scope)
        if (code.name !== undefined) scope.define(code.name, value)
        return value
      }
      case 'class':
        return this.#class(code, scope)
      case 'comprehension': {
        const items: Value[] = []
        const inner = new Scope(scope)
        const over = this.evaluate(code.over, scope)
        this.#forEach(over, (item) => {
          assignValue(code.target, item, inner, this)
          items.push(this.evaluate(code.item, inner))
        })
        return over.items || over.text !== undefined ? { items, facts: [], made: [] } : mixValues(items)
      }
      case 'choice': {
        const values = this.#branch(() => this.#all(code.parts, scope))
        const first = values.find((value) => value !== nothing && value.number === undefined) ?? values[0] ?? nothing
        return withFactsOf(first, values)
      }
      case 'assign':
        return this.#assign(code, scope)
      case 'outside':
        for (const name of code.names) scope.outside.add(name)
        return nothing
      case 'return': {
        const value = this.evaluate(code.value, scope)
        this.#returned.at(-1)?.push(value)
        return value
      }
      case 'each':
        this.#branch(() =>
          this.#forEach(this.evaluate(code.over, scope), (item) => {
            assignValue(code.target, item, scope, this)
            this.evaluate(code.body, scope)
          }),
        )
        return nothing
      case 'while':
        this.#branch(() => this.#while(code, scope))
        return nothing
      case 'block': {
        let value = nothing
        for (const part of code.parts) if (isHoisted(part)) this.evaluate(part, scope)
        for (const part of code.parts) if (!isHoisted(part)) value = this.evaluate(part, scope)
        return value
      }
    }
  }

  #all(parts: readonly Code[], scope: Scope): Value[] {
    return parts.map((part) => this.evaluate(part, scope))
  }

  #items(codes: readonly Code[], scope: Scope): Value[] {
    const items = codes.flatMap((item) => {
      const value = this.evaluate(item, scope)
      if (item.type !== 'spread') return [value]
      return (
        value.items ??
        (value.text === undefined ? [mixValues([value])] : [...value.text].map((one) => toTextValue(one, [value])))
      )
    })
    return items.slice(0, itemsMax)
  }

  #map(code: Extract<Code, { type: 'map' }>, scope: Scope): Value {
    const fields = new Map<string, Value>()
    const others: Value[] = []
    for (const { key, value: valueCode } of code.entries) {
      const name = key && this.evaluate(key, scope)
      const value = this.evaluate(valueCode, scope)
      if (name && (name.text !== undefined || name.number !== undefined)) fields.set(textOf(name), value)
      else if (value.fields && !name) for (const [field, one] of value.fields) fields.set(field, one)
      else others.push(value, ...(name ? [name] : []))
    }
    return { fields, facts: mixValues(others).facts, made: [] }
  }

  #class(code: Extract<Code, { type: 'class' }>, scope: Scope): Value {
    const inner = new Scope(scope)
    const value: Value = { fields: inner.variables, isClass: true, facts: [], made: [] }
    const instance: Value = { fields: inner.variables, facts: [], made: [] }
    if (code.name !== undefined) scope.define(code.name, value)
    this.evaluate(code.body, inner)
    for (const { closure } of inner.variables.values()) if (closure) closure.owner = instance
    return value
  }

  /** Calls a function for each item of a value, or once for all items if they are unknown. */
  #forEach(over: Value, act: (item: Value) => void): void {
    const isText = over.items === undefined && over.text !== undefined && !over.text.includes(unknownPart)
    const size = Math.min((isText ? over.text : over.items)?.length ?? 0, itemsMax)
    if (size === 0) return act({ ...nothing, facts: gatherFacts(over) })
    for (let index = 0; index < size; index++) {
      if (index > 0 && this.#isSpent) return
      const item = isText ? toPythonCharacter(over.text![index]!, over, this) : over.items![index]!
      const given = item.facts.length === 0 && over.facts.length > 0 ? withFactsOf(item, [over]) : item
      this.#repeat(index > 0, () => act(given))
    }
  }

  #while({ test, body }: Extract<Code, { type: 'while' }>, scope: Scope): void {
    // A loop with a constant condition does the same in each round: two rounds show what one passes to the next.
    const roundsMax = test.type === 'number' ? 2 : itemsMax
    const stepsMin = this.#extraSteps - loopStepsMax
    for (let round = 0; round < roundsMax && this.#extraSteps > Math.max(0, stepsMin); round++) {
      const { number } = this.evaluate(test, scope)
      if (number === 0 && round > 0) break
      this.#repeat(round > 0, () => this.evaluate(body, scope))
      if (number === undefined) break
    }
  }

  #assign({ target, operator, value: code }: Extract<Code, { type: 'assign' }>, scope: Scope): Value {
    const value = this.evaluate(code, scope)
    if (operator === '=' || operator === 'define') {
      assignValue(target, value, scope, this, operator === 'define')
      return value
    }
    const before = this.evaluate(target, scope)
    const result = applyOperator(operator, [before, value], this.library.language)
    assignValue(target, result, scope, this)
    return result
  }

  #call(code: Extract<Code, { type: 'call' }>, scope: Scope): Value {
    const callee =
      code.callee.type === 'member'
        ? readMember(this.evaluate(code.callee.of, scope), this.evaluate(code.callee.key, scope), code.callee, this)
        : this.evaluate(code.callee, scope)
    const { args, named } = this.#arguments(code.args, scope)
    return this.call(callee, { code, args, named, self: callee.self, scope })
  }

  #arguments(given: readonly Argument[], scope: Scope): { args: Value[]; named: Map<string, Value> } {
    const args: Value[] = []
    const named = new Map<string, Value>()
    for (const { name, value: code } of given) {
      const value = this.evaluate(code, scope)
      if (name !== undefined) named.set(name, value)
      else if (code.type !== 'spread') args.push(value)
      else if (value.fields) for (const [field, one] of value.fields) named.set(field, one)
      else args.push(...(value.items ?? [mixValues([value])]))
    }
    return { args, named }
  }

  #define(code: Closure['code'], scope: Scope): Value {
    const closure = { code, scope, calls: 0 }
    this.#closures.push(closure)
    return { closure, facts: [], made: [] }
  }

  /** Follows the callbacks, and the functions that the program itself does not call. */
  #finish(): void {
    // A callback runs after the code around it, and sees variables that are defined after it.
    for (const call of this.#later.splice(0)) if (!this.#isSpent) call()
    for (const closure of this.#closures) if (closure.calls === 0) this.#enter(closure, [], closure.owner)
  }

  call(callee: Value, call: Call): Value {
    const { args, named, self, code } = call
    const { library } = this
    if (callee.closure) return this.#enter(callee.closure, args, self ?? callee.closure.owner, named)
    if (callee.isClass) {
      const init = callee.fields!.get('__init__') ?? callee.fields!.get('constructor')
      const instance: Value = { fields: callee.fields!, facts: [], made: [] }
      if (init?.closure) this.#enter(init.closure, args, instance, named)
      return instance
    }
    const all = [...args, ...named.values()]
    const effect = callee.path === undefined ? undefined : library.functions.get(callee.path)
    const known = effect?.(call, this)
    if (known) {
      if (!known.items) this.#callBack(known, all, call)
      return known
    }
    if (callee.method !== undefined && self) {
      const result = textMethods.get(callee.method)?.(self, args)
      if (result) return result
      const found = effect ? undefined : library.methods.get(callee.method)?.(call, this)
      if (found) {
        this.#callBack(found, all, call)
        return found
      }
      if (mutators.has(callee.method) && code.type === 'call' && code.callee.type === 'member') {
        this.#mutate(code.callee.of, self, all, call.scope)
      }
    }
    const facts = mixValues(
      [...all, ...(self ? [self] : [])].map((value) => ({ ...nothing, facts: gatherFacts(value) })),
    ).facts
    const path = callee.path === undefined ? undefined : `${callee.path}()`
    const result =
      path === undefined ? { facts, made: [] } : withFactsOf(readMemberPath(path, code, this), [{ facts, made: [] }])
    return this.#callBack(result, all, call)
  }

  #mutate(code: Code, self: Value, values: readonly Value[], scope: Scope): void {
    if (!self.items || code.type !== 'name' || self.items.length >= itemsMax) {
      return addFactsToRoot(code, self, values, scope, this)
    }
    const longer = { ...self, items: [...self.items, ...values] }
    scope.set(code.name, this.isInBranch ? withFactsOf(longer, values) : longer)
  }

  /** Calls the functions among arguments, with a value that stands for each of their parameters. */
  #callBack(result: Value, args: readonly Value[], call: Call): Value {
    const { library } = this
    const functions = args.filter(({ closure, path }) => closure || (path !== undefined && library.functions.has(path)))
    if (functions.length === 0 || this.#depth > depthMax) return result
    const { self } = call
    const given = withFactsOf(result, self ? [self] : [])
    this.#depth++
    const results = functions.map((one) => {
      const items = self?.items
      const list = items && one.closure ? items.slice(0, itemsMax) : [given]
      const each = list.map((item, index) => {
        if (index > 0 && this.#isSpent) return nothing
        const values = items ? [item, { ...nothing, number: index }] : [item, item, item]
        const inner = { ...call, args: values, named: new Map<string, Value>(), self: undefined }
        if (one.closure && this.#later.length < laterMax) this.#later.push(() => void this.call(one, inner))
        return this.#repeat(true, () => this.call(one, inner))
      })
      return items ? { ...nothing, items: each } : (each[0] ?? nothing)
    })
    this.#depth--
    // `map` and `then` return what their function returns.
    return results.length === 1 ? withFactsOf(results[0]!, [result]) : withFactsOf(result, results)
  }

  /** Follows a function with arguments, unless it was followed too often or is nested too deeply. */
  #enter(closure: Closure, args: readonly Value[], self: Value | undefined, named?: ReadonlyMap<string, Value>): Value {
    const isFirst = closure.calls === 0
    if (!isFirst && (closure.calls > callsMax || this.#isSpent)) return mixValues(args)
    if (this.#depth > depthMax) return mixValues(args)
    closure.calls++
    this.#depth++
    this.#returned.push([])
    const scope = new Scope(closure.scope)
    this.#bind(closure, args, self, named, scope)
    // The body of a function is not in a branch, even if its call is.
    const branches = this.#branches
    this.#branches = 0
    this.#repeat(!isFirst, () => this.evaluate(closure.code.body, scope))
    this.#branches = branches
    const returned = this.#returned.pop()!
    this.#depth--
    return withFactsOf(returned.find((value) => value !== nothing) ?? nothing, returned)
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
      assignValue(parameter, rest, scope, this, true)
    }
  }

  /** Whether no more repetitions should be followed. */
  get #isSpent(): boolean {
    return this.#extraSteps < 0
  }

  get isInBranch(): boolean {
    return this.#branches > 0
  }

  /** Follows code. With `isAgain`, its steps count towards the limit of repeated steps. */
  #repeat<T>(isAgain: boolean, follow: () => T): T {
    this.#repeating += Number(isAgain)
    const result = follow()
    this.#repeating -= Number(isAgain)
    return result
  }

  /** Follows code that the program runs only under a condition. */
  #branch<T>(follow: () => T): T {
    this.#branches++
    const result = follow()
    this.#branches--
    return result
  }
}
