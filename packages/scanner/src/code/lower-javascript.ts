import { readEscapes } from './escapes.ts'
import { lowerOperation } from './lower-operation.ts'
import type { Argument, Code, Tree } from './syntax.ts'

/** Translates a syntax tree of JavaScript or TypeScript. */
export function lowerJavaScript(tree: Tree, text: string): Code {
  return new Lowering(text).code(tree)
}

const punctuation = new Set(['(', ')', '[', ']', '{', '}', ',', ';', ':', '.', '?.', 'LineComment', 'BlockComment'])
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
const isPart = ({ name }: Tree) => !ignored.has(name)

class Lowering {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  code(tree: Tree): Code {
    const lower = lowerings[tree.name]
    return lower ? lower(this, tree) : this.block(tree, tree.children.filter(isPart))
  }

  source({ start, end }: Tree): string {
    return this.#text.slice(start, end)
  }

  block({ start, end }: Tree, parts: readonly Tree[]): Code {
    return { type: 'block', start, end, parts: parts.map((part) => this.code(part)) }
  }

  text({ start, end }: Tree, text: string): Code {
    return { type: 'text', start, end, text }
  }

  name(tree: Tree): Code {
    return { type: 'name', start: tree.start, end: tree.end, name: this.source(tree) }
  }

  /** Items separated by commas, of which some are `...item`. */
  items({ children }: Tree): Code[] {
    return splitAtCommas(children.slice(1, -1)).map((item) => this.item(item))
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
    const inner = tree.children.filter(({ name }) => name !== '(' && name !== ')')
    return splitAtCommas(inner).flatMap((part) => {
      const equals = part.findIndex(({ name }) => name === 'Equals')
      const target = part.find(({ name }) => targets.has(name))
      if (!target) return []
      const of = this.code(target)
      const { start, end } = target
      if (part[0]!.name === 'Spread') return [{ type: 'spread', start, end, of }]
      if (equals === -1 || !part[equals + 1]) return [of]
      return [{ type: 'assign', start, end, target: of, operator: 'define', value: this.code(part[equals + 1]!) }]
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

const targets = new Set(['VariableDefinition', 'ObjectPattern', 'ArrayPattern'])

function splitAtCommas(trees: readonly Tree[]): Tree[][] {
  const parts: Tree[][] = [[]]
  for (const tree of trees) {
    if (tree.name === ',') parts.push([])
    else if (tree.name !== 'LineComment' && tree.name !== 'BlockComment') parts.at(-1)!.push(tree)
  }
  return parts.filter((part) => part.length > 0)
}

type Lower = (lowering: Lowering, tree: Tree) => Code

const define: Lower = (on, tree) => on.function(tree)

const call: Lower = (on, { start, end, children }) => {
  const parts = children.filter(({ name }) => name !== 'new' && name !== '?.' && !name.startsWith('Type'))
  const [callee, args] = parts
  if (!callee) return on.block({ name: '', start, end, children: [] }, [])
  return { type: 'call', start, end, callee: on.code(callee), args: args?.name === 'ArgList' ? on.args(args) : [] }
}

const last: Lower = (on, { start, end, children }) => {
  const parts = children.filter(isPart)
  return parts.length === 1 ? on.code(parts[0]!) : on.block({ name: '', start, end, children: [] }, parts)
}

const declare: Lower = (on, { start, end, children }) => ({
  type: 'block',
  start,
  end,
  parts: splitAtCommas(children.slice(1)).flatMap((part): Code[] => {
    const equals = part.findIndex(({ name }) => name === 'Equals')
    const value = part[equals + 1]
    if (equals < 1 || !value) return []
    const { start: from } = part[0]!
    return [
      {
        type: 'assign',
        start: from,
        end: value.end,
        target: on.code(part[0]!),
        operator: 'define',
        value: on.code(value),
      },
    ]
  }),
})

/** Every branch counts. */
const branches: Lower = (on, { start, end, children }) => ({
  type: 'choice',
  start,
  end,
  parts: children.filter(isPart).map((part) => on.code(part)),
})

const lowerings: Readonly<Record<string, Lower>> = {
  VariableName: (on, tree) => on.name(tree),
  VariableDefinition: (on, tree) => on.name(tree),
  this: (on, tree) => on.name(tree),
  Number: (on, tree) => ({
    type: 'number',
    start: tree.start,
    end: tree.end,
    number: Number(on.source(tree).replace(/[_n]/g, '')),
  }),
  BooleanLiteral: (on, tree) => ({
    type: 'number',
    start: tree.start,
    end: tree.end,
    number: Number(on.source(tree) === 'true'),
  }),
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
      const span = { name: '', start: from, end: to, children: [] }
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
  TaggedTemplateExpression(on, { start, end, children }) {
    const [callee, text] = children
    if (!callee || !text) return on.block({ name: '', start, end, children: [] }, children)
    const value = on.code(text)
    // `String.raw` gives the template as it is written.
    if (on.source(callee) === 'String.raw') return value
    return { type: 'call', start, end, callee: on.code(callee), args: [{ value }] }
  },
  ParenthesizedExpression: last,
  SequenceExpression: last,
  ArrayExpression: (on, tree) => ({ type: 'list', start: tree.start, end: tree.end, items: on.items(tree) }),
  ArrayPattern: (on, tree) => ({ type: 'list', start: tree.start, end: tree.end, items: on.items(tree) }),
  ObjectExpression: (on, { start, end, children }) => ({
    type: 'map',
    start,
    end,
    entries: children.flatMap((child) => (child.name === 'Property' ? (on.property(child) ?? []) : [])),
  }),
  ObjectPattern: (on, { start, end, children }) => ({
    type: 'map',
    start,
    end,
    entries: children.flatMap((child) => (child.name === 'PatternProperty' ? (on.property(child) ?? []) : [])),
  }),
  MemberExpression(on, { start, end, children }) {
    const of = on.code(children[0]!)
    const bracket = children.findIndex(({ name }) => name === '[')
    const key = bracket === -1 ? children.at(-1)! : children[bracket + 1]!
    return { type: 'member', start, end, of, key: bracket === -1 ? on.text(key, on.source(key)) : on.code(key) }
  },
  CallExpression: call,
  NewExpression: call,
  DynamicImport(on, { start, end, children }) {
    const args = splitAtCommas(children.slice(2, -1)).map((arg) => ({ value: on.item(arg) }))
    return { type: 'call', start, end, callee: { type: 'module', start, end, path: 'import' }, args }
  },
  BinaryExpression: (on, tree) =>
    lowerOperation(
      tree,
      (part) => on.code(part),
      (part) => on.source(part),
    ),
  UnaryExpression: (on, tree) =>
    lowerOperation(
      tree,
      (part) => on.code(part),
      (part) => on.source(part),
    ),
  PostfixExpression: increment,
  ConditionalExpression: (on, { start, end, children }) => ({
    type: 'choice',
    start,
    end,
    parts: [2, 4].flatMap((at) => (children[at] ? [on.code(children[at])] : [])),
  }),
  AssignmentExpression(on, { start, end, children }) {
    const [target, sign, value] = children
    if (!target || !sign || !value) return on.block({ name: '', start, end, children: [] }, children)
    const operator = sign.name === 'Equals' ? '=' : on.source(sign).slice(0, -1)
    return { type: 'assign', start, end, target: on.code(target), operator, value: on.code(value) }
  },
  AwaitExpression: (on, { children }) => on.code(children.at(-1)!),
  YieldExpression: (on, { children }) => on.code(children.at(-1)!),
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
  PropertyDeclaration(on, { start, end, children }) {
    const name = children.find((each) => each.name.startsWith('Property'))
    const value = children[children.findIndex((each) => each.name === 'Equals') + 1]
    if (!name || !value || value === children[0]) return on.block({ name: '', start, end, children: [] }, [])
    return { type: 'assign', start, end, target: on.name(name), operator: 'define', value: on.code(value) }
  },
  VariableDeclaration: declare,
  ReturnStatement: (on, { start, end, children }) => ({
    type: 'return',
    start,
    end,
    value: on.block({ name: '', start, end, children: [] }, children.slice(1).filter(isPart)),
  }),
  ForStatement(on, { start, end, children }) {
    const spec = children.find(({ name }) => name.endsWith('Spec'))
    const body = on.code(children.at(-1)!)
    if (!spec) return body
    const at = spec.children.findIndex(({ name }) => name === 'of' || name === 'in')
    if (at !== -1) {
      const over = on.code(spec.children[at + 1]!)
      return { type: 'each', start, end, target: on.code(spec.children[at - 1]!), over, body }
    }
    return lowerForLoop(on, spec, body)
  },
  WhileStatement: (on, { start, end, children }) => ({
    type: 'while',
    start,
    end,
    test: on.code(children[1]!),
    body: on.code(children.at(-1)!),
  }),
  IfStatement: branches,
  TryStatement: branches,
  SwitchStatement: branches,
  ImportDeclaration: lowerImport,
  JSXElement: last,
  ExportDeclaration: last,
}
for (const name of ignored) Object.assign(lowerings, { [name]: (on: Lowering, tree: Tree) => on.block(tree, []) })

function lowerForLoop(on: Lowering, { start, end, children }: Tree, body: Code): Code {
  const parts = children.slice(1, -1)
  const first = parts[0]?.name === 'VariableDeclaration' ? 1 : parts.findIndex(({ name }) => name === ';') + 1
  const second = parts.findIndex(({ name }, index) => index >= first && name === ';')
  const span = { name: '', start, end, children: [] }
  const initial = on.block(span, parts.slice(0, first).filter(isPart))
  const test = on.block(span, parts.slice(first, second).filter(isPart))
  const update = on.block(span, parts.slice(second + 1).filter(isPart))
  const loop: Code = { type: 'while', start, end, test, body: { type: 'block', start, end, parts: [body, update] } }
  return { type: 'block', start, end, parts: [initial, loop] }
}

/** `i++` */
function increment(on: Lowering, { start, end, children }: Tree): Code {
  const [target, sign] = children
  if (!target || !sign) return on.block({ name: '', start, end, children: [] }, [])
  const operator = on.source(sign)[0]!
  return {
    type: 'assign',
    start,
    end,
    target: on.code(target),
    operator,
    value: { type: 'number', start, end, number: 1 },
  }
}

function defineClass(on: Lowering, { start, end, children }: Tree): Code {
  const name = children.find((each) => each.name === 'VariableDefinition')
  const body = children.find((each) => each.name === 'ClassBody')
  return {
    type: 'class',
    start,
    end,
    ...(name && { name: on.source(name) }),
    body: on.block({ name: '', start, end, children: [] }, body?.children.filter(isPart) ?? []),
  }
}

/** `import a, { b as c } from 'd'`, `import * as e from 'f'`. */
function lowerImport(on: Lowering, { start, end, children }: Tree): Code {
  const source = children.find(({ name }) => name === 'String')
  const from = source ? on.source(source).slice(1, -1) : ''
  const bind = (target: Tree, path: string): Code => {
    return {
      type: 'assign',
      start,
      end,
      target: on.name(target),
      operator: 'define',
      value: { type: 'module', start, end, path },
    }
  }
  const whole = children.filter(({ name }) => name === 'VariableDefinition').map((target) => bind(target, from))
  const group = children.find(({ name }) => name === 'ImportGroup')
  const named = splitAtCommas(group?.children.slice(1, -1) ?? []).flatMap((item) => {
    const target = item.at(-1)!
    const name = on.source(item.find((each) => each.name.startsWith('Variable'))!)
    return [bind(target, name === 'default' ? from : `${from}.${name}`)]
  })
  return { type: 'block', start, end, parts: [...whole, ...named] }
}
