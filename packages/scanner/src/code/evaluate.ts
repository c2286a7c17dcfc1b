import { assign } from './assignments.ts'
import { Calls } from './calls.ts'
import type { InnerReaders, Library } from './library.ts'
import { readMember, readPath, readSlice, selectVariable, toCharacter } from './members.ts'
import { operate } from './operators.ts'
import type { CodeFact, CodeFactKind } from './reading.ts'
import type { Recorder } from './recorder.ts'
import { Steps } from './steps.ts'
import type { Argument, Code } from './syntax.ts'
import { gather, itemsMax, mix, nothing, Scope, textOf, toText, unknownPart, withFacts, type Value } from './values.ts'

const nestedMax = 4
/** Maximum number and length of commands of a shell that are read. */
const commandsMax = 100
const commandCharactersMax = 4096
/** Facts about what a command prints. */
const outputKinds: ReadonlySet<CodeFactKind> = new Set(['secret-read', 'environment-read', 'data-collected'])

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
  readonly steps = new Steps()
  readonly calls = new Calls(this)
  readonly #inner: InnerReaders
  readonly #commands = new Set<string>()
  /** Contents that the code wrote to files, by path or by the value of an unknown path. */
  readonly files = new Map<string | Value, Value>()
  #place: Code | undefined
  #nested = 0

  constructor(library: Library, recorder: Recorder, inner: InnerReaders) {
    this.library = library
    this.recorder = recorder
    this.#inner = inner
  }

  /** Follows a whole program: first in its order, then the functions that it does not call. */
  run(code: Code): void {
    this.evaluate(code, new Scope())
    this.calls.finish()
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

  /** Remembers the content of a file. */
  putFile(path: string | Value, content: Value, { changes }: Scope): void {
    changes.note(this.files, path)
    this.files.set(path, content)
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
    this.steps.count()
    switch (code.type) {
      case 'text':
        return { text: code.text, facts: [], made: [] }
      case 'number':
        return { number: code.number, facts: [], made: [] }
      case 'name':
        return (
          scope.find(code.name) ?? (this.library.globals.has(code.name) ? readPath(code.name, code, this) : nothing)
        )
      case 'module':
        return readPath(code.path, code, this)
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
        const value = this.calls.define(code, scope)
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
          assign(code.target, item, inner, this)
          items.push(this.evaluate(code.item, inner))
        })
        return over.items || over.text !== undefined ? { items, facts: [], made: [] } : mix(items)
      }
      case 'choice': {
        const values = this.steps.branch(() => this.#all(code.parts, scope))
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
        this.calls.return(value)
        return value
      }
      case 'each':
        this.steps.branch(() =>
          this.#forEach(this.evaluate(code.over, scope), (item) => {
            assign(code.target, item, scope, this)
            this.evaluate(code.body, scope)
          }),
        )
        return nothing
      case 'while':
        this.steps.branch(() => this.#while(code, scope))
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
      if (index > 0 && this.steps.areSpent) return
      const item = isText ? toCharacter(over.text![index]!, over, this) : over.items![index]!
      const given = item.facts.length === 0 && over.facts.length > 0 ? withFacts(item, [over]) : item
      this.steps.repeat(index > 0, () => act(given))
    }
  }

  #while({ test, body }: Extract<Code, { type: 'while' }>, scope: Scope): void {
    let number: number | undefined
    const follow = (round: number) => {
      number = this.evaluate(test, scope).number
      if (number !== 0 || round === 0) this.steps.repeat(round > 0, () => this.evaluate(body, scope))
    }
    for (let round = 0; round < itemsMax; round++) {
      const before = this.#size
      const isChanged = scope.changes.watch(() => follow(round))
      if (number === undefined || (number === 0 && round > 0) || this.steps.areSpent) break
      // All other rounds would be the same.
      if (!isChanged && this.#size === before) break
    }
  }

  /** A number that grows with everything that is recorded and every command that is read. */
  get #size(): number {
    return this.recorder.size + this.#commands.size
  }

  #assign({ target, operator, value: code }: Extract<Code, { type: 'assign' }>, scope: Scope): Value {
    const value = this.evaluate(code, scope)
    if (operator === '=' || operator === 'define') {
      assign(target, value, scope, this, operator === 'define')
      return value
    }
    const before = this.evaluate(target, scope)
    const result = operate(operator, [before, value], this.library.language)
    assign(target, result, scope, this)
    return result
  }

  #call(code: Extract<Code, { type: 'call' }>, scope: Scope): Value {
    const callee =
      code.callee.type === 'member'
        ? readMember(this.evaluate(code.callee.of, scope), this.evaluate(code.callee.key, scope), code.callee, this)
        : this.evaluate(code.callee, scope)
    const { args, named } = this.#arguments(code.args, scope)
    return this.calls.call(callee, { code, args, named, self: callee.self, scope })
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
}
