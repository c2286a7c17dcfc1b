import type { CodeFact, CodeFactKind, CodeReading } from './reading.ts'
import { isSecretVariable } from './known-places.ts'
import type { Recorder } from './recorder.ts'
import type { Argument, Code } from './syntax.ts'
import { textMethods } from './text-methods.ts'
import { operate } from './operators.ts'
import {
  gather,
  itemsMax,
  mix,
  nothing,
  Scope,
  textOf,
  toText,
  unknownPart,
  withFacts,
  type Closure,
  type Value,
} from './values.ts'

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

const callsMax = 25
const depthMax = 6
const nestedMax = 4
/** Maximum number of callbacks that are called again at the end. */
const laterMax = 200
/** Steps for repetitions: each part of the code is followed once in any case. */
const extraStepsMax = 60_000
const pathCharactersMax = 160
/** Maximum number and length of commands of a shell that are read. */
const commandsMax = 100
const commandCharactersMax = 4096
/** Facts about what a command prints. */
const outputKinds: ReadonlySet<CodeFactKind> = new Set(['secret-read', 'environment-read', 'data-collected'])

/** Methods that put their arguments into their object. */
const mutators = new Set(
  `append push unshift add extend update insert set setdefault write writestr appendleft put file splice assign attach
   writerow writelines add_field set_payload set_content add_attachment enqueue`.split(/\s+/),
)

/** Functions and imports can be used before the place where they stand. */
function isHoisted(code: Code): boolean {
  if (code.type === 'block') return code.parts.length > 0 && code.parts.every((part) => isImport(part))
  return code.type === 'function' && code.name !== undefined
}

const isImport = (code: Code) => code.type === 'assign' && code.value.type === 'module'

/** Follows values through a program. */
export class Evaluation {
  readonly library: Library
  readonly recorder: Recorder
  readonly #inner: InnerReaders
  readonly #commands = new Set<string>()
  readonly #closures: Closure[] = []
  /** Contents that the code wrote to files, by path or by the value of an unknown path. */
  readonly files = new Map<string | Value, Value>()
  readonly #later: (() => void)[] = []
  #returned: Value[][] = []
  #place: Code | undefined
  #nested = 0
  #depth = 0
  #branches = 0
  #extra = extraStepsMax
  #repeating = 0

  constructor(library: Library, recorder: Recorder, inner: InnerReaders) {
    this.library = library
    this.recorder = recorder
    this.#inner = inner
  }

  /** Follows a whole program: first in its order, then the functions that it does not call. */
  run(code: Code): void {
    this.evaluate(code, new Scope())
    // A callback runs after the code around it, and sees variables that are defined after it.
    for (const call of this.#later.splice(0)) if (this.#extra > 0) call()
    for (const closure of this.#closures) if (closure.calls === 0) this.#enter(closure, [], closure.owner)
  }

  /** Records a fact at a place, and the flows of values into it. */
  record(kind: CodeFactKind, code: Code, value?: string, from: readonly Value[] = []): CodeFact {
    const fact = this.recorder.add(kind, this.#place ?? code, value)
    for (const one of from) this.recorder.addFlows(gather(one), fact)
    return fact
  }

  /** The environment as a value, which counts only if it reaches something. */
  wholeEnvironment(code: Code): CodeFact {
    return this.recorder.add('environment-read', this.#place ?? code, undefined, true)
  }

  /** Reports a computed text for a scan. */
  reveal(value: Value, code: Code): void {
    if (value.text === undefined || value.made.length === 0 || value.text.length < 4) return
    this.recorder.addText(value.text.replaceAll(unknownPart, ' '), this.#place ?? code, value.made)
  }

  /** Follows code that is in a text, in the scope of the code that runs it. */
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

  /** Reads a command of a shell. Returns its output. */
  runCommand(line: string, code: Code): Value {
    const text = line.slice(0, commandCharactersMax).replaceAll(unknownPart, '$UNKNOWN')
    if (this.#commands.size === commandsMax || this.#commands.has(text)) return nothing
    this.#commands.add(text)
    const facts = this.recorder.adopt(this.#inner.readShell(text), this.#place ?? code)
    return { ...nothing, facts: facts.filter(({ kind }) => outputKinds.has(kind)) }
  }

  evaluate(code: Code, scope: Scope): Value {
    if (this.#repeating > 0) this.#extra--
    switch (code.type) {
      case 'text':
        return { text: code.text, facts: [], made: [] }
      case 'number':
        return { number: code.number, facts: [], made: [] }
      case 'name':
        return (
          scope.find(code.name) ?? (this.library.globals.has(code.name) ? this.#pathValue(code.name, code) : nothing)
        )
      case 'module':
        return this.#pathValue(code.path, code)
      case 'member': {
        const of = this.evaluate(code.of, scope)
        return this.#selected(this.member(of, this.evaluate(code.key, scope), code), of, code.key)
      }
      case 'slice':
        return this.#slice(code, scope)
      case 'call':
        return this.#call(code, scope)
      case 'operation':
        return operate(code.operator, this.#all(code.parts, scope), this.library.language)
      case 'template': {
        const parts = this.#all(code.parts, scope)
        return toText(parts.map(textOf).join(''), parts, ...(parts.length > 1 ? ['concatenation'] : []))
      }
      case 'list':
        return { items: this.#items(code.items, scope), facts: [], made: [] }
      case 'spread':
        return this.evaluate(code.of, scope)
      case 'map':
        return this.#map(code, scope)
      case 'function': {
        const closure = { code, scope, calls: 0 }
        this.#closures.push(closure)
        const value = { closure, facts: [], made: [] }
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
          this.assign(code.target, item, inner)
          items.push(this.evaluate(code.item, inner))
        })
        return over.items || over.text !== undefined ? { items, facts: [], made: [] } : mix(items)
      }
      case 'choice': {
        this.#branches++
        const values = this.#all(code.parts, scope)
        this.#branches--
        const first = values.find((value) => value !== nothing && value.number === undefined) ?? values[0] ?? nothing
        return withFacts(first, values)
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
        this.#branches++
        this.#forEach(this.evaluate(code.over, scope), (item) => {
          this.assign(code.target, item, scope)
          this.evaluate(code.body, scope)
        })
        this.#branches--
        return nothing
      case 'while':
        this.#while(code, scope)
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

  #pathValue(given: string, code: Code, self?: Value, method?: string): Value {
    const path = this.library.toPath(given.slice(0, pathCharactersMax))
    return this.library.value(path, code, this) ?? { path, facts: [], made: [], ...(self && { self, method: method! }) }
  }

  /** A field, method or item of a value. */
  member(of: Value, key: Value, code: Code): Value {
    if (key.number !== undefined) {
      if (of.items) return of.items.at(key.number) ?? mix([of])
      if (of.text !== undefined) return this.#character(of.text.at(key.number) ?? '', of)
      return this.#field(of, String(key.number), code)
    }
    if (key.text === undefined || key.text.includes(unknownPart)) {
      return of.path === undefined ? mix([{ ...nothing, facts: gather(of) }, key]) : mix([key])
    }
    if (key.text === 'length' && (of.text !== undefined || of.items)) {
      return { ...nothing, number: of.text?.length ?? of.items!.length }
    }
    const found = this.#field(of, key.text, code)
    if (key.made.length > 0 && found.path !== undefined) this.record('hidden-name', code, found.path)
    return found.closure || found === nothing ? found : withFacts(found, [key])
  }

  /** One variable of an environment that was read as a whole is not the environment. */
  #selected(value: Value, of: Value, key: Code): Value {
    if (key.type !== 'text' || !of.facts.some(({ kind }) => kind === 'environment-read')) return value
    const facts = value.facts.filter(({ kind }) => kind !== 'environment-read')
    if (isSecretVariable(key.text)) facts.push(this.record('variable-read', key, key.text))
    return { ...value, facts }
  }

  #field(of: Value, name: string, code: Code): Value {
    const own = of.fields?.get(name)
    if (own) return own.closure ? { ...own, self: of } : withFacts(own, [of])
    if (of.path !== undefined) {
      const value = this.#pathValue(`${of.path}.${name}`, code, of, name)
      return value.path === undefined || of.facts.length === 0 || this.library.value(of.path, code, this)
        ? value
        : withFacts(value, [of])
    }
    return {
      self: of,
      method: name,
      facts: of.facts,
      made: [],
      ...(name === 'constructor' && of.method === name && { path: 'Function' }),
    }
  }

  #slice(code: Extract<Code, { type: 'slice' }>, scope: Scope): Value {
    const of = this.evaluate(code.of, scope)
    const [from, to, step] = code.bounds.map((bound) => (bound ? this.evaluate(bound, scope) : undefined))
    if ((from && from.number === undefined) || (to && to.number === undefined)) return mix([of])
    const size = Math.abs(step?.number ?? 1)
    const isBack = (step?.number ?? 1) < 0
    if (of.text !== undefined && size === 1 && !isBack)
      return toText(of.text.slice(from?.number ?? 0, to?.number), [of])
    const pick = <T>(list: readonly T[]): T[] => {
      const ordered = isBack ? list.toReversed() : list.slice(from?.number ?? 0, to?.number)
      return size === 1 ? [...ordered] : ordered.filter((_, index) => index % size === 0)
    }
    const made = isBack ? ['reversed'] : size > 1 ? ['selection'] : []
    if (of.text !== undefined) return toText(pick([...of.text]).join(''), [of], ...made)
    return of.items ? { ...of, items: pick(of.items), made: [...of.made, ...made] } : mix([of])
  }

  #items(codes: readonly Code[], scope: Scope): Value[] {
    const items = codes.flatMap((item) => {
      const value = this.evaluate(item, scope)
      if (item.type !== 'spread') return [value]
      return (
        value.items ?? (value.text === undefined ? [mix([value])] : [...value.text].map((one) => toText(one, [value])))
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
    return { fields, facts: mix(others).facts, made: [] }
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

  /** Calls a function for each item of a value, or once for all if they are unknown. */
  #forEach(over: Value, act: (item: Value) => void): void {
    const isText = over.items === undefined && over.text !== undefined && !over.text.includes(unknownPart)
    const size = Math.min((isText ? over.text : over.items)?.length ?? 0, itemsMax)
    if (size === 0) return act({ ...nothing, facts: gather(over) })
    for (let index = 0; index < size; index++) {
      if (index > 0 && this.#extra < 0) return
      this.#repeating += Number(index > 0)
      const item = isText ? this.#character(over.text![index]!, over) : over.items![index]!
      act(item.facts.length === 0 && over.facts.length > 0 ? withFacts(item, [over]) : item)
      this.#repeating -= Number(index > 0)
    }
  }

  /** In Python, a part of bytes is a number and a part of a text is a text: it stands for both. */
  #character(text: string, of: Value): Value {
    const value = toText(text, [of])
    return this.library.language === 'python' && text !== '' ? { ...value, number: text.charCodeAt(0) } : value
  }

  #while({ test, body }: Extract<Code, { type: 'while' }>, scope: Scope): void {
    this.#branches++
    for (let round = 0; round < itemsMax; round++) {
      const { number } = this.evaluate(test, scope)
      if (number === 0 && round > 0) break
      this.#repeating += Number(round > 0)
      this.evaluate(body, scope)
      this.#repeating -= Number(round > 0)
      if (number === undefined || this.#extra < 0) break
    }
    this.#branches--
  }

  #assign({ target, operator, value: code }: Extract<Code, { type: 'assign' }>, scope: Scope): Value {
    const value = this.evaluate(code, scope)
    if (operator === '=' || operator === 'define') {
      this.assign(target, value, scope, operator === 'define')
      return value
    }
    const before = this.evaluate(target, scope)
    const result = operate(operator, [before, value], this.library.language)
    this.assign(target, result, scope)
    return result
  }

  /** Assigns a value to a variable, field or pattern. In a branch, the facts of the value before remain. */
  assign(target: Code, given: Value, scope: Scope, isNew = false): void {
    if (target.type === 'name') {
      const before = this.#branches > 0 ? scope.variables.get(target.name) : undefined
      const value = before && before.facts.length > 0 ? withFacts(given, [before]) : given
      if (isNew) scope.define(target.name, value)
      else scope.set(target.name, value)
    } else if (target.type === 'member') {
      const of = this.evaluate(target.of, scope)
      const key = this.evaluate(target.key, scope)
      if (key.text === undefined || of.path !== undefined) this.#put(target.of, of, [given, key], scope)
      else if (of.fields) of.fields.set(key.text, given)
      else this.#put(target.of, of, [given], scope)
      if (of.path !== undefined && key.text !== undefined) this.#set(`${of.path}.${key.text}`, given, target, scope)
    } else if (target.type === 'list') {
      const items = given.items
      for (const [index, item] of target.items.entries()) {
        const rest = items && item.type === 'spread' ? { ...nothing, items: items.slice(index) } : items?.[index]
        this.assign(item, rest ?? mix([{ ...nothing, facts: gather(given) }]), scope, isNew)
      }
    } else if (target.type === 'map') {
      for (const { key, value: inner } of target.entries) {
        this.assign(inner, key ? this.member(given, this.evaluate(key, scope), target) : given, scope, isNew)
      }
    } else if (target.type === 'spread') this.assign(target.of, given, scope, isNew)
    else if (target.type === 'assign') {
      this.assign(target.target, given === nothing ? this.evaluate(target.value, scope) : given, scope, isNew)
    }
  }

  /** An assignment to a part of a library is like a call of it. */
  #set(path: string, value: Value, code: Code, scope: Scope): void {
    const effect = this.library.effects.get(`${this.library.toPath(path)}=`)
    effect?.({ code, args: [value], named: new Map(), self: undefined, scope }, this)
  }

  /** Adds the facts of values to the variable at the root of an expression. */
  #put(code: Code, of: Value, values: readonly Value[], scope: Scope): void {
    const facts = values.flatMap(gather)
    if (facts.length === 0) return
    const value = withFacts(of, [{ ...nothing, facts }])
    if (code.type === 'name') scope.set(code.name, value)
    else if (code.type === 'member') {
      const key = this.evaluate(code.key, scope)
      const outer = this.evaluate(code.of, scope)
      if (outer.fields && key.text !== undefined) outer.fields.set(key.text, value)
      else this.#put(code.of, outer, values, scope)
    }
  }

  #call(code: Extract<Code, { type: 'call' }>, scope: Scope): Value {
    const callee =
      code.callee.type === 'member'
        ? this.member(this.evaluate(code.callee.of, scope), this.evaluate(code.callee.key, scope), code.callee)
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
      else args.push(...(value.items ?? [mix([value])]))
    }
    return { args, named }
  }

  /** The result of a call, with what it does. */
  call(callee: Value, call: Call): Value {
    const { args, named, self, code } = call
    if (callee.closure) return this.#enter(callee.closure, args, self ?? callee.closure.owner, named)
    if (callee.isClass) {
      const init = callee.fields!.get('__init__') ?? callee.fields!.get('constructor')
      const instance: Value = { fields: callee.fields!, facts: [], made: [] }
      if (init?.closure) this.#enter(init.closure, args, instance, named)
      return instance
    }
    const all = [...args, ...named.values()]
    const effect = callee.path === undefined ? undefined : this.library.effects.get(callee.path)
    const known = effect?.(call, this)
    if (known) {
      if (!known.items) this.#callBack(known, all, call)
      return known
    }
    if (callee.method !== undefined && self) {
      const result = textMethods.get(callee.method)?.(self, args)
      if (result) return withFacts(result, [])
      const found = effect ? undefined : this.library.methods.get(callee.method)?.(call, this)
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
      path === undefined ? { facts, made: [] } : withFacts(this.#pathValue(path, code), [{ facts, made: [] }])
    return this.#callBack(result, all, call)
  }

  #mutate(code: Code, self: Value, values: readonly Value[], scope: Scope): void {
    if (self.items && code.type === 'name' && self.items.length < itemsMax && this.#branches === 0) {
      scope.set(code.name, { ...self, items: [...self.items, ...values] })
    } else if (self.items && code.type === 'name' && self.items.length < itemsMax) {
      scope.set(code.name, withFacts({ ...self, items: [...self.items, ...values] }, values))
    } else this.#put(code, self, values, scope)
  }

  /** Calls the functions among arguments, with a value that stands for each of their parameters. */
  #callBack(result: Value, args: readonly Value[], call: Call): Value {
    const functions = args.filter(
      ({ closure, path }) => closure || (path !== undefined && this.library.effects.has(path)),
    )
    if (functions.length === 0 || this.#depth > depthMax) return result
    const { self } = call
    const given = withFacts(result, self ? [self] : [])
    this.#depth++
    const results = functions.map((one) => {
      const items = self?.items
      const list = items && one.closure ? items.slice(0, itemsMax) : [given]
      const each = list.map((item, index) => {
        if (index > 0 && this.#extra < 0) return nothing
        this.#repeating++
        const values = items ? [item, { ...nothing, number: index }] : [item, item, item]
        const inner = { ...call, args: values, named: new Map<string, Value>(), self: undefined }
        const value = this.call(one, inner)
        if (one.closure && this.#later.length < laterMax) this.#later.push(() => void this.call(one, inner))
        this.#repeating--
        return value
      })
      return items ? { ...nothing, items: each } : (each[0] ?? nothing)
    })
    this.#depth--
    // `map` and `then` return what their function returns.
    return results.length === 1 ? withFacts(results[0]!, [result]) : withFacts(result, results)
  }

  /** Follows a function with arguments, unless it was followed too often. */
  #enter(closure: Closure, args: readonly Value[], self: Value | undefined, named?: ReadonlyMap<string, Value>): Value {
    const isFirst = closure.calls === 0
    if (!isFirst && (closure.calls > callsMax || this.#extra < 0)) return mix(args)
    if (this.#depth > depthMax) return mix(args)
    closure.calls++
    this.#depth++
    this.#repeating += Number(!isFirst)
    this.#returned.push([])
    const scope = new Scope(closure.scope)
    const parameters = closure.code.parameters
    const [first] = parameters
    const isMethod = first?.type === 'name' && (first.name === 'self' || first.name === 'cls')
    const values = isMethod && self ? [self, ...args] : args
    if (self) scope.define('this', self)
    for (const [index, parameter] of parameters.entries()) {
      const name = parameter.type === 'name' ? parameter.name : undefined
      const target = parameter.type === 'assign' && parameter.target.type === 'name' ? parameter.target.name : name
      const value = named?.get(target ?? '') ?? values[index] ?? nothing
      const rest = parameter.type === 'spread' ? { ...nothing, items: values.slice(index) } : value
      this.assign(parameter, rest, scope, true)
    }
    const branches = this.#branches
    this.#branches = 0
    this.evaluate(closure.code.body, scope)
    this.#branches = branches
    const returned = this.#returned.pop()!
    this.#repeating -= Number(!isFirst)
    this.#depth--
    return withFacts(returned.find((value) => value !== nothing) ?? nothing, returned)
  }
}
