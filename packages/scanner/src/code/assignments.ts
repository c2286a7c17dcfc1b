import type { Evaluation } from './evaluate.ts'
import { readMember } from './members.ts'
import type { Code } from './syntax.ts'
import { gather, mix, nothing, withFacts, type Scope, type Value } from './values.ts'

/** Assigns a value to a variable, field or pattern. In a branch, the facts of the value before remain. */
export function assign(target: Code, given: Value, scope: Scope, on: Evaluation, isNew = false): void {
  if (target.type === 'name') {
    const before = on.steps.isInBranch ? scope.variables.get(target.name) : undefined
    const value = before && before.facts.length > 0 ? withFacts(given, [before]) : given
    if (isNew) scope.define(target.name, value)
    else scope.set(target.name, value)
  } else if (target.type === 'member') assignMember(target, given, scope, on)
  else if (target.type === 'list') {
    const items = given.items
    for (const [index, item] of target.items.entries()) {
      const rest = items && item.type === 'spread' ? { ...nothing, items: items.slice(index) } : items?.[index]
      assign(item, rest ?? mix([{ ...nothing, facts: gather(given) }]), scope, on, isNew)
    }
  } else if (target.type === 'map') {
    for (const { key, value: inner } of target.entries) {
      assign(inner, key ? readMember(given, on.evaluate(key, scope), target, on) : given, scope, on, isNew)
    }
  } else if (target.type === 'spread') assign(target.of, given, scope, on, isNew)
  else if (target.type === 'assign') {
    assign(target.target, given === nothing ? on.evaluate(target.value, scope) : given, scope, on, isNew)
  }
}

function assignMember(target: Extract<Code, { type: 'member' }>, given: Value, scope: Scope, on: Evaluation): void {
  const of = on.evaluate(target.of, scope)
  const key = on.evaluate(target.key, scope)
  if (key.text === undefined || of.path !== undefined) put(target.of, of, [given, key], scope, on)
  else if (of.fields) setField(of.fields, key.text, given, scope)
  else put(target.of, of, [given], scope, on)
  if (of.path === undefined || key.text === undefined) return
  // An assignment to a part of a library is like a call of it.
  const effect = on.library.effects.get(`${on.library.toPath(`${of.path}.${key.text}`)}=`)
  effect?.({ code: target, args: [given], named: new Map(), self: undefined, scope }, on)
}

function setField(fields: Map<string, Value>, name: string, value: Value, { changes }: Scope): void {
  changes.note(fields, name)
  fields.set(name, value)
}

/** Adds the facts of values to the variable at the root of an expression. */
export function put(code: Code, of: Value, values: readonly Value[], scope: Scope, on: Evaluation): void {
  const facts = values.flatMap(gather)
  if (facts.length === 0) return
  const value = withFacts(of, [{ ...nothing, facts }])
  if (code.type === 'name') scope.set(code.name, value)
  else if (code.type === 'member') {
    const key = on.evaluate(code.key, scope)
    const outer = on.evaluate(code.of, scope)
    if (outer.fields && key.text !== undefined) setField(outer.fields, key.text, value, scope)
    else put(code.of, outer, values, scope, on)
  }
}
