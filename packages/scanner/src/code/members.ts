import { isSecretVariable } from './known-places.ts'
import type { Evaluator } from './library.ts'
import type { Code } from './syntax.ts'
import { gatherFacts, mixValues, nothing, toTextValue, unknownPart, withFactsOf } from './values.ts'
import type { Scope, Value } from './values.ts'

const pathCharactersMax = 160

/** The value at a path of a library, such as `os.path.join`; for a method, `self` is the object that has it. */
export function readMemberPath(given: string, code: Code, on: Evaluator, self?: Value, method?: string): Value {
  const path = on.library.toPath(given.slice(0, pathCharactersMax))
  return on.library.value(path, code, on) ?? { path, facts: [], made: [], ...(self && { self, method: method! }) }
}

/** A field, method or item of a value. */
export function readMember(of: Value, key: Value, code: Code, on: Evaluator): Value {
  if (key.number !== undefined) {
    if (of.items) return of.items.at(key.number) ?? mixValues([of])
    if (of.text !== undefined) return toPythonCharacter(of.text.at(key.number) ?? '', of, on)
    return readField(of, String(key.number), code, on)
  }
  if (key.text === undefined || key.text.includes(unknownPart)) {
    return of.path === undefined ? mixValues([{ ...nothing, facts: gatherFacts(of) }, key]) : mixValues([key])
  }
  if (key.text === 'length' && (of.text !== undefined || of.items)) {
    return { ...nothing, number: of.text?.length ?? of.items!.length }
  }
  const found = readField(of, key.text, code, on)
  if (key.made.length > 0 && found.path !== undefined) on.record('hidden-name', code, found.path)
  return found.closure || found === nothing ? found : withFactsOf(found, [key])
}

/** Selects one variable of an environment that was read as a whole: drops the fact that all variables were read. */
export function selectVariable(value: Value, of: Value, key: Code, on: Evaluator): Value {
  if (key.type !== 'text' || !of.facts.some(({ kind }) => kind === 'environment-read')) return value
  const facts = value.facts.filter(({ kind }) => kind !== 'environment-read')
  if (isSecretVariable(key.text)) facts.push(on.record('variable-read', key, key.text))
  return { ...value, facts }
}

function readField(of: Value, name: string, code: Code, on: Evaluator): Value {
  const own = of.fields?.get(name)
  if (own) return own.closure ? { ...own, self: of } : withFactsOf(own, [of])
  if (of.path !== undefined) {
    const value = readMemberPath(`${of.path}.${name}`, code, on, of, name)
    return value.path === undefined || of.facts.length === 0 || on.library.value(of.path, code, on)
      ? value
      : withFactsOf(value, [of])
  }
  return {
    self: of,
    method: name,
    facts: of.facts,
    made: [],
    ...(name === 'constructor' && of.method === name && { path: 'Function' }),
  }
}

/** `of[from:to:step]` */
export function readSlice(of: Value, [from, to, step]: readonly (Value | undefined)[]): Value {
  if ((from && from.number === undefined) || (to && to.number === undefined)) return mixValues([of])
  const size = Math.abs(step?.number ?? 1)
  const isBack = (step?.number ?? 1) < 0
  if (of.text !== undefined && size === 1 && !isBack)
    return toTextValue(of.text.slice(from?.number ?? 0, to?.number), [of])
  const pick = <T>(list: readonly T[]): T[] => {
    const ordered = isBack ? list.toReversed() : list.slice(from?.number ?? 0, to?.number)
    return size === 1 ? [...ordered] : ordered.filter((_, index) => index % size === 0)
  }
  const made = isBack ? ['reversed'] : size > 1 ? ['selection'] : []
  if (of.text !== undefined) return toTextValue(pick([...of.text]).join(''), [of], ...made)
  return of.items ? { ...of, items: pick(of.items), made: [...of.made, ...made] } : mixValues([of])
}

/** A character as a value. In Python it also has a number, because `text` may be bytes, whose items are numbers. */
export function toPythonCharacter(text: string, of: Value, { library }: Evaluator): Value {
  const value = toTextValue(text, [of])
  return library.language === 'python' && text !== '' ? { ...value, number: text.charCodeAt(0) } : value
}

/** Assigns a value to a variable, field or pattern. In a branch, the facts of the previous value remain. */
export function assignValue(target: Code, given: Value, scope: Scope, on: Evaluator, isNew = false): void {
  if (target.type === 'name') {
    const before = on.isInBranch ? scope.variables.get(target.name) : undefined
    const value = before && before.facts.length > 0 ? withFactsOf(given, [before]) : given
    if (isNew) scope.define(target.name, value)
    else scope.set(target.name, value)
  } else if (target.type === 'member') assignMember(target, given, scope, on)
  else if (target.type === 'list') {
    const items = given.items
    for (const [index, item] of target.items.entries()) {
      const rest = items && item.type === 'spread' ? { ...nothing, items: items.slice(index) } : items?.[index]
      assignValue(item, rest ?? mixValues([{ ...nothing, facts: gatherFacts(given) }]), scope, on, isNew)
    }
  } else if (target.type === 'map') {
    for (const { key, value: inner } of target.entries) {
      assignValue(inner, key ? readMember(given, on.evaluate(key, scope), target, on) : given, scope, on, isNew)
    }
  } else if (target.type === 'spread') assignValue(target.of, given, scope, on, isNew)
  else if (target.type === 'assign') {
    assignValue(target.target, given === nothing ? on.evaluate(target.value, scope) : given, scope, on, isNew)
  }
}

function assignMember(target: Extract<Code, { type: 'member' }>, given: Value, scope: Scope, on: Evaluator): void {
  const of = on.evaluate(target.of, scope)
  const key = on.evaluate(target.key, scope)
  if (key.text === undefined || of.path !== undefined) addFactsToRoot(target.of, of, [given, key], scope, on)
  else if (of.fields) of.fields.set(key.text, given)
  else addFactsToRoot(target.of, of, [given], scope, on)
  if (of.path === undefined || key.text === undefined) return
  // An assignment to a part of a library may have an effect, which the table lists by the path and `=`.
  const effect = on.library.functions.get(`${on.library.toPath(`${of.path}.${key.text}`)}=`)
  effect?.({ code: target, args: [given], named: new Map(), self: undefined, scope }, on)
}

/** Adds the facts of values to the variable at the root of an expression. */
export function addFactsToRoot(code: Code, of: Value, values: readonly Value[], scope: Scope, on: Evaluator): void {
  const facts = values.flatMap(gatherFacts)
  if (facts.length === 0) return
  const value = withFactsOf(of, [{ ...nothing, facts }])
  if (code.type === 'name') scope.set(code.name, value)
  else if (code.type === 'member') {
    const key = on.evaluate(code.key, scope)
    const outer = on.evaluate(code.of, scope)
    if (outer.fields && key.text !== undefined) outer.fields.set(key.text, value)
    else addFactsToRoot(code.of, outer, values, scope, on)
  }
}
