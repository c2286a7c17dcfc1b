import { readEscapes } from './escapes.ts'
import type { JavaScriptLowering } from './lower-javascript.ts'
import { lowerInner, lowerLast, lowerOperation, toItems, type Lower, type Lowerings } from './lowering.ts'
import type { Code } from './syntax.ts'

type LowerJavaScript = Lower<JavaScriptLowering>

const define: LowerJavaScript = (on, tree) => on.function(tree)

const call: LowerJavaScript = (on, tree) => {
  const { start, end, children } = tree
  const parts = children.filter(({ name }) => name !== 'new' && name !== '?.' && !name.startsWith('Type'))
  const [callee, args] = parts
  if (!callee) return on.block(tree, [])
  return { type: 'call', start, end, callee: on.code(callee), args: args?.name === 'ArgList' ? on.args(args) : [] }
}

const list: LowerJavaScript = (on, tree) => ({ type: 'list', start: tree.start, end: tree.end, items: on.items(tree) })

const mapOf =
  (propertyName: string): LowerJavaScript =>
  (on, { start, end, children }) => ({
    type: 'map',
    start,
    end,
    entries: children.flatMap((child) => (child.name === propertyName ? (on.property(child) ?? []) : [])),
  })

/** `i++` */
const increment: LowerJavaScript = (on, tree) => {
  const { start, end, children } = tree
  const [target, sign] = children
  if (!target || !sign) return on.block(tree, [])
  const operator = on.source(sign)[0]!
  return { type: 'assign', start, end, target: on.code(target), operator, value: on.number(tree, 1) }
}

const defineClass: LowerJavaScript = (on, tree) => {
  const { start, end, children } = tree
  const name = children.find((each) => each.name === 'VariableDefinition')
  const body = children.find((each) => each.name === 'ClassBody')
  return {
    type: 'class',
    start,
    end,
    ...(name && { name: on.source(name) }),
    body: on.block(tree, body?.children.filter(on.isPart) ?? []),
  }
}

/** How the expressions of JavaScript are translated, by the names of their nodes. */
export const javascriptExpressions: Lowerings<JavaScriptLowering> = {
  VariableName: (on, tree) => on.name(tree),
  VariableDefinition: (on, tree) => on.name(tree),
  this: (on, tree) => on.name(tree),
  Number: (on, tree) => on.number(tree, Number(on.source(tree).replace(/[_n]/g, ''))),
  BooleanLiteral: (on, tree) => on.number(tree, Number(on.source(tree) === 'true')),
  String(on, tree) {
    const raw = on.source(tree)
    return on.text(tree, readEscapes(raw.slice(1, raw.length > 1 && raw.endsWith(raw[0]!) ? -1 : undefined)))
  },
  RegExp: (on, tree) => on.block(tree, []),
  TemplateString(on, { start, end, children }) {
    const parts: Code[] = []
    let from = start + 1
    const add = (to: number) => {
      if (to <= from) return
      const span = { start: from, end: to }
      parts.push(on.text(span, readEscapes(on.source(span))))
    }
    for (const child of children) {
      if (child.name !== 'Interpolation') continue
      add(child.start)
      const inner = child.children.find(({ name }) => !name.startsWith('Interpolation'))
      if (inner) parts.push(on.code(inner))
      from = child.end
    }
    add(end - 1)
    return { type: 'template', start, end, parts }
  },
  TaggedTemplateExpression(on, tree) {
    const { start, end, children } = tree
    const [callee, text] = children
    if (!callee || !text) return on.block(tree, children)
    const value = on.code(text)
    // `String.raw` gives the template as it is written.
    if (on.source(callee) === 'String.raw') return value
    return { type: 'call', start, end, callee: on.code(callee), args: [{ value }] }
  },
  ParenthesizedExpression: lowerInner,
  SequenceExpression: lowerInner,
  JSXElement: lowerInner,
  ArrayExpression: list,
  ArrayPattern: list,
  ObjectExpression: mapOf('Property'),
  ObjectPattern: mapOf('PatternProperty'),
  MemberExpression(on, { start, end, children }) {
    const of = on.code(children[0]!)
    const bracket = children.findIndex(({ name }) => name === '[')
    const key = bracket === -1 ? children.at(-1)! : children[bracket + 1]!
    return { type: 'member', start, end, of, key: bracket === -1 ? on.text(key, on.source(key)) : on.code(key) }
  },
  CallExpression: call,
  NewExpression: call,
  DynamicImport(on, { start, end, children }) {
    const args = toItems(children.slice(2, -1)).map((arg) => ({ value: on.item(arg) }))
    return { type: 'call', start, end, callee: { type: 'module', start, end, path: 'import' }, args }
  },
  BinaryExpression: lowerOperation,
  UnaryExpression: lowerOperation,
  PostfixExpression: increment,
  ConditionalExpression: (on, { start, end, children }) => ({
    type: 'choice',
    start,
    end,
    parts: [2, 4].flatMap((at) => (children[at] ? [on.code(children[at])] : [])),
  }),
  AssignmentExpression(on, tree) {
    const { start, end, children } = tree
    const [target, sign, value] = children
    if (!target || !sign || !value) return on.block(tree, children)
    const operator = sign.name === 'Equals' ? '=' : on.source(sign).slice(0, -1)
    return { type: 'assign', start, end, target: on.code(target), operator, value: on.code(value) }
  },
  AwaitExpression: lowerLast,
  YieldExpression: lowerLast,
  ArrowFunction: define,
  FunctionExpression: define,
  FunctionDeclaration: define,
  ClassDeclaration: defineClass,
  ClassExpression: defineClass,
  MethodDeclaration(on, tree) {
    const { key, value } = on.property(tree) ?? {}
    if (key?.type !== 'text' || value?.type !== 'function') return on.block(tree, [])
    return { ...value, name: key.text }
  },
  PropertyDeclaration(on, tree) {
    const { children } = tree
    const name = children.find((each) => each.name.startsWith('Property'))
    const value = children[children.findIndex((each) => each.name === 'Equals') + 1]
    if (!name || !value || value === children[0]) return on.block(tree, [])
    return on.define(tree, on.name(name), on.code(value))
  },
}
