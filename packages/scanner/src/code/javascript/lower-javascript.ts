import { readEscapes } from '../decoders.ts'
import {
  lowerBranches,
  lowerInner,
  lowerLast,
  lowerOperation,
  Lowering,
  toItems,
  type Lower,
  type Lowerings,
} from '../lowering.ts'
import type { Argument, Code, Tree } from '../syntax.ts'

type LowerJavaScript = Lower<JavaScriptLowering>

/** Translates a syntax tree of JavaScript or TypeScript. */
export function lowerJavaScript(tree: Tree, text: string): Code {
  return new JavaScriptLowering(text).code(tree)
}

const punctuation = ['(', ')', '[', ']', '{', '}', ',', ';', ':', '.', '?.', 'LineComment', 'BlockComment']
/** Types are erased, and labels name no value. */
const ignored = new Set([
  ...punctuation,
  'TypeAnnotation',
  'TypeArgList',
  'TypeParamList',
  'TypeAliasDeclaration',
  'InterfaceDeclaration',
  'Hashbang',
  'export',
  'default',
  'Label',
])
const targets = new Set(['VariableDefinition', 'ObjectPattern', 'ArrayPattern'])

class JavaScriptLowering extends Lowering {
  override readonly isPart = ({ name }: Tree): boolean => !ignored.has(name)

  protected override lower(tree: Tree): Code | undefined {
    return this.isPart(tree) ? lowerings[tree.name]?.(this, tree) : this.block(tree, [])
  }

  /** Items in brackets, of which some are `...item`. */
  items({ children }: Tree): Code[] {
    return toItems(children.slice(1, -1)).map((item) => this.item(item))
  }

  item(item: readonly Tree[]): Code {
    const value = item.at(-1)!
    const of = this.code(value)
    return item[0]!.name === 'Spread' ? { type: 'spread', start: item[0]!.start, end: value.end, of } : of
  }

  args(tree: Tree | undefined): Argument[] {
    return tree ? this.items(tree).map((value) => ({ value })) : []
  }

  parameters(tree: Tree | undefined): Code[] {
    if (!tree) return []
    return toItems(tree.children.filter(({ name }) => name !== '(' && name !== ')')).flatMap((part): Code[] => {
      const equals = part.findIndex(({ name }) => name === 'Equals')
      const target = part.find(({ name }) => targets.has(name))
      if (!target) return []
      const of = this.code(target)
      if (part[0]!.name === 'Spread') return [{ type: 'spread', start: target.start, end: target.end, of }]
      if (equals === -1 || !part[equals + 1]) return [of]
      return [this.define(target, of, this.code(part[equals + 1]!))]
    })
  }

  /** The key and value of a property, or the target of a pattern's property. */
  property({ children }: Tree): { key?: Code; value: Code } | undefined {
    const parts = children.filter(({ name }) => name !== 'Star' && name !== 'async' && !name.startsWith('Type'))
    const [first] = parts
    if (!first) return undefined
    if (first.name === 'Spread') return { value: this.code(parts.at(-1)!) }
    if (first.name === '[') {
      return parts[1] && parts.length > 3 ? { key: this.code(parts[1]), value: this.code(parts.at(-1)!) } : undefined
    }
    const name = parts.find((each) => each.name !== 'get' && each.name !== 'set') ?? first
    const key =
      name.name.startsWith('Property') || name.name === 'VariableDefinition'
        ? this.text(name, this.source(name))
        : this.code(name)
    const body = parts.findIndex((each) => each.name === 'ParamList')
    if (body !== -1) return { key, value: this.function({ ...parts[body]!, children: parts.slice(body) }) }
    const colon = parts.findIndex((each) => each.name === ':')
    const value = parts[colon + 1]
    return { key, value: colon === -1 || !value ? this.name(name) : this.code(value) }
  }

  function({ start, end, children }: Tree): Code {
    const name = children.find((each) => each.name === 'VariableDefinition')
    const body = children.at(-1)!
    const isExpression = body.name !== 'Block' && children.some((each) => each.name === 'Arrow')
    const code = this.code(body)
    return {
      type: 'function',
      start,
      end,
      ...(name && { name: this.source(name) }),
      parameters: this.parameters(children.find((each) => each.name === 'ParamList')),
      body: isExpression ? { type: 'return', start: body.start, end: body.end, value: code } : code,
    }
  }
}

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
const expressions: Lowerings<JavaScriptLowering> = {
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

/** How the statements of JavaScript are translated, by the names of their nodes. */
const statements: Lowerings<JavaScriptLowering> = {
  VariableDeclaration: (on, { start, end, children }) => ({
    type: 'block',
    start,
    end,
    parts: toItems(children.slice(1)).flatMap((part): Code[] => {
      const equals = part.findIndex(({ name }) => name === 'Equals')
      const value = part[equals + 1]
      if (equals < 1 || !value) return []
      const [target] = part
      return [on.define({ start: target!.start, end: value.end }, on.code(target!), on.code(value))]
    }),
  }),
  ReturnStatement(on, tree) {
    const { start, end, children } = tree
    return { type: 'return', start, end, value: on.block(tree, children.slice(1).filter(on.isPart)) }
  },
  ForStatement(on, { start, end, children }) {
    const spec = children.find(({ name }) => name.endsWith('Spec'))
    const body = on.code(children.at(-1)!)
    if (!spec) return body
    const at = spec.children.findIndex(({ name }) => name === 'of' || name === 'in')
    if (at === -1) return lowerForLoop(on, spec, body)
    const over = on.code(spec.children[at + 1]!)
    return { type: 'each', start, end, target: on.code(spec.children[at - 1]!), over, body }
  },
  WhileStatement: (on, { start, end, children }) => ({
    type: 'while',
    start,
    end,
    test: on.code(children[1]!),
    body: on.code(children.at(-1)!),
  }),
  IfStatement: lowerBranches,
  TryStatement: lowerBranches,
  SwitchStatement: lowerBranches,
  ImportDeclaration: lowerImport,
  ExportDeclaration: lowerInner,
}

function lowerForLoop(on: JavaScriptLowering, spec: Tree, body: Code): Code {
  const { start, end } = spec
  const parts = spec.children.slice(1, -1)
  const first = parts[0]?.name === 'VariableDeclaration' ? 1 : parts.findIndex(({ name }) => name === ';') + 1
  const second = parts.findIndex(({ name }, index) => index >= first && name === ';')
  const initial = on.block(spec, parts.slice(0, first).filter(on.isPart))
  const test = on.block(spec, parts.slice(first, second).filter(on.isPart))
  const update = on.block(spec, parts.slice(second + 1).filter(on.isPart))
  const loop: Code = { type: 'while', start, end, test, body: { type: 'block', start, end, parts: [body, update] } }
  return { type: 'block', start, end, parts: [initial, loop] }
}

/** `import a, { b as c } from 'd'`, `import * as e from 'f'`. */
function lowerImport(on: JavaScriptLowering, tree: Tree): Code {
  const { start, end, children } = tree
  const source = children.find(({ name }) => name === 'String')
  const from = source ? on.source(source).slice(1, -1) : ''
  const bind = (target: Tree, path: string) => on.define(tree, on.name(target), { type: 'module', start, end, path })
  const whole = children.filter(({ name }) => name === 'VariableDefinition').map((target) => bind(target, from))
  const group = children.find(({ name }) => name === 'ImportGroup')
  const named = toItems(group?.children.slice(1, -1) ?? []).flatMap((item) => {
    const target = item.at(-1)!
    const name = on.source(item.find((each) => each.name.startsWith('Variable'))!)
    return [bind(target, name === 'default' ? from : `${from}.${name}`)]
  })
  return { type: 'block', start, end, parts: [...whole, ...named] }
}

const lowerings = { ...expressions, ...statements }
