import { readEscapes } from '../decoders.ts'
import {
  lowerBranches,
  lowerInner,
  lowerLast,
  lowerOperation,
  Lowering,
  splitAt,
  toItems,
  type Lower,
  type Lowerings,
} from '../lowering.ts'
import type { Argument, Code, Tree } from '../syntax.ts'

type LowerPython = Lower<PythonLowering>

/** Translates a syntax tree of Python. */
export function lowerPython(tree: Tree, text: string): Code {
  return new PythonLowering(text).code(tree)
}

const punctuation = new Set(['(', ')', '[', ']', '{', '}', ',', ':', '.', 'Comment', ';'])

class PythonLowering extends Lowering {
  override readonly isPart = ({ name }: Tree): boolean => !punctuation.has(name)

  protected override lower(tree: Tree): Code | undefined {
    return lowerings[tree.name]?.(this, tree)
  }

  /** One target or expression, or a list of several. */
  tuple(parts: readonly Tree[]): Code {
    const items = toItems(parts).map((item) => this.item(item))
    if (items.length === 1 && !parts.some(({ name }) => name === ',')) return items[0]!
    return { type: 'list', start: parts[0]?.start ?? 0, end: parts.at(-1)?.end ?? 0, items }
  }

  /** An item of a list, which may be `*item`. */
  item(item: readonly Tree[]): Code {
    const value = item.at(-1)!
    const of = this.code(value)
    return item.length > 1 && item[0]!.name.startsWith('*')
      ? { type: 'spread', start: item[0]!.start, end: value.end, of }
      : of
  }

  args({ children }: Tree): Argument[] {
    const inner = children.slice(1, children.at(-1)?.name === ')' ? -1 : undefined)
    const comprehension = inner.findIndex(({ name }) => name === 'for')
    if (comprehension > 0) return [{ value: this.comprehension(inner) }]
    return toItems(inner).map((arg): Argument => {
      const assign = arg.findIndex(({ name }) => name === 'AssignOp')
      if (assign === 1 && arg[2]) return { name: this.source(arg[0]!), value: this.code(arg[2]) }
      return { value: this.item(arg) }
    })
  }

  parameters(tree: Tree | undefined): Code[] {
    if (!tree) return []
    return toItems(tree.children.filter(({ name }) => name !== '(' && name !== ')')).flatMap((part): Code[] => {
      const name = part.find((each) => each.name === 'VariableName')
      const initial = part[part.findIndex((each) => each.name === 'AssignOp') + 1]
      if (!name) return []
      if (part[0]!.name === '*') return [{ type: 'spread', start: name.start, end: name.end, of: this.name(name) }]
      if (initial === undefined || initial === part[0]) return [this.name(name)]
      return [this.define(name, this.name(name), this.code(initial))]
    })
  }

  comprehension(inner: readonly Tree[]): Code {
    const at = inner.findIndex(({ name }) => name === 'for')
    const clauses = splitAt(inner.slice(at + 1), 'for')
    const head = inner.slice(0, at).filter(({ name }) => name !== 'async')
    const colon = head.findIndex(({ name }) => name === ':')
    const item = colon === -1 ? this.tuple(head) : this.tuple([...head.slice(0, colon), ...head.slice(colon + 1)])
    return clauses.reduceRight<Code>((body, clause) => {
      const over = clause.findIndex(({ name }) => name === 'in')
      const { start } = inner[0]!
      const { end } = inner.at(-1)!
      const list = clause[over + 1]
      if (over < 1 || !list) return body
      const target = this.tuple(clause.slice(0, over))
      return { type: 'comprehension', start, end, target, over: this.code(list), item: body }
    }, item)
  }

  string(tree: Tree): Code {
    const { start } = tree
    const raw = this.source(tree)
    const [open, prefix, quote] = /^([a-z]{0,2})('''|"""|'|")/i.exec(raw) ?? ['', '', '']
    const isClosed = raw.length >= open.length + quote!.length && raw.endsWith(quote!)
    const stop = raw.length - (isClosed ? quote!.length : 0)
    const isRaw = /r/i.test(prefix!)
    const decode = (part: string) => (isRaw ? part : readEscapes(part))
    if (tree.name === 'String') return this.text(tree, decode(raw.slice(open.length, stop)))
    const parts: Code[] = []
    let from = open.length
    const add = (to: number) => {
      if (to <= from) return
      const text = decode(raw.slice(from, to)).replaceAll('{{', '{').replaceAll('}}', '}')
      parts.push(this.text({ start: start + from, end: start + to }, text))
    }
    for (const child of tree.children) {
      if (child.name !== 'FormatReplacement') continue
      add(child.start - start)
      const value = child.children.find(({ name }) => name !== '{')
      if (value) parts.push(this.code(value))
      from = child.end - start
    }
    add(stop)
    return { type: 'template', start, end: tree.end, parts }
  }
}

const list: LowerPython = (on, { start, end, children }) => {
  const inner = children.slice(1, -1)
  if (inner.some(({ name }) => name === 'for')) return on.comprehension(inner)
  return { type: 'list', start, end, items: toItems(inner).map((item) => on.item(item)) }
}

/** How the expressions of Python are translated, by the names of their nodes. */
const expressions: Lowerings<PythonLowering> = {
  VariableName: (on, tree) => on.name(tree),
  Number: (on, tree) => on.number(tree, Number(on.source(tree).replaceAll('_', ''))),
  Boolean: (on, tree) => on.number(tree, Number(on.source(tree) === 'True')),
  String: (on, tree) => on.string(tree),
  FormatString: (on, tree) => on.string(tree),
  ContinuedString: (on, { start, end, children }) => ({
    type: 'template',
    start,
    end,
    parts: children.map((child) => on.string(child)),
  }),
  ParenthesizedExpression: lowerInner,
  TupleExpression: list,
  ArrayExpression: list,
  SetExpression: list,
  ArrayComprehensionExpression: list,
  ComprehensionExpression: list,
  SetComprehensionExpression: list,
  DictionaryComprehensionExpression: list,
  DictionaryExpression: (on, { start, end, children }) => ({
    type: 'map',
    start,
    end,
    entries: toItems(children.slice(1, -1)).map((entry) => {
      const isKeyed = entry.findIndex(({ name }) => name === ':') === 1
      const value = on.code(entry.at(-1)!)
      return isKeyed ? { key: on.code(entry[0]!), value } : { value }
    }),
  }),
  MemberExpression(on, { start, end, children }) {
    const [of, open, ...rest] = children
    const base = on.code(of!)
    if (open?.name !== '[') {
      const key = children.at(-1)!
      return { type: 'member', start, end, of: base, key: on.text(key, on.source(key)) }
    }
    const inner = rest.filter(({ name }) => name !== ']')
    if (!inner.some(({ name }) => name === ':')) return { type: 'member', start, end, of: base, key: on.tuple(inner) }
    const bounds = splitAt(inner, ':').map(([bound]) => bound && on.code(bound))
    return { type: 'slice', start, end, of: base, bounds }
  },
  CallExpression(on, { start, end, children }) {
    const [callee, args] = children
    return { type: 'call', start, end, callee: on.code(callee!), args: args ? on.args(args) : [] }
  },
  BinaryExpression: lowerOperation,
  UnaryExpression: lowerOperation,
  ConditionalExpression: (on, { start, end, children }) => ({
    type: 'choice',
    start,
    end,
    parts: [0, 4].flatMap((at) => (children[at] ? [on.code(children[at])] : [])),
  }),
  AwaitExpression: lowerLast,
  LambdaExpression(on, { start, end, children }) {
    const last = children.at(-1)!
    const body: Code = { type: 'return', start: last.start, end: last.end, value: on.code(last) }
    const parameters = on.parameters(children.find(({ name }) => name === 'ParamList'))
    return { type: 'function', start, end, parameters, body }
  },
}

const assign: LowerPython = (on, { start, end, children }) => {
  const parts = children.filter(({ name }) => name !== 'TypeDef')
  const sides = splitAt(
    parts.map((part) => (part.name === 'UpdateOp' ? { ...part, name: 'AssignOp' } : part)),
    'AssignOp',
  )
  const update = parts.find(({ name }) => name === 'UpdateOp')
  const operator = update ? on.source(update).slice(0, -1) : 'define'
  const filled = sides.filter((side) => side.length > 0)
  return filled
    .slice(0, -1)
    .reduceRight<Code>(
      (value, side) => ({ type: 'assign', start, end, target: on.tuple(side), operator, value }),
      on.tuple(filled.at(-1) ?? []),
    )
}

const returns: LowerPython = (on, { start, end, children }) => ({
  type: 'return',
  start,
  end,
  value: on.tuple(children.slice(1)),
})

/** How the statements of Python are translated, by the names of their nodes. */
const statements: Lowerings<PythonLowering> = {
  NamedExpression: assign,
  AssignStatement: assign,
  UpdateStatement: assign,
  FunctionDefinition: (on, { start, end, children }) => ({
    type: 'function',
    start,
    end,
    ...findName(on, children),
    parameters: on.parameters(children.find(({ name }) => name === 'ParamList')),
    body: on.code(children.find(({ name }) => name === 'Body') ?? children.at(-1)!),
  }),
  ClassDefinition(on, tree) {
    const { start, end, children } = tree
    return { type: 'class', start, end, ...findName(on, children), body: lowerBody(on, tree) }
  },
  ReturnStatement: returns,
  YieldStatement: returns,
  WithStatement(on, tree) {
    const { start, end, children } = tree
    const inside = children.filter(({ name }) => !['with', 'async', 'Body', '(', ')', ':'].includes(name))
    const items = toItems(inside).map(([value, as, target]) =>
      as?.name === 'as' && target
        ? on.define({ start: value!.start, end: target.end }, on.code(target), on.code(value!))
        : on.code(value!),
    )
    return { type: 'block', start, end, parts: [...items, lowerBody(on, tree)] }
  },
  ForStatement(on, tree) {
    const { start, end, children } = tree
    const inside = children.filter(({ name }) => name !== 'async')
    const at = inside.findIndex(({ name }) => name === 'in')
    const bodies = inside.findIndex(({ name }) => name === 'Body')
    if (at === -1 || bodies === -1) return lowerBody(on, tree)
    const over = on.tuple(inside.slice(at + 1, bodies))
    return { type: 'each', start, end, target: on.tuple(inside.slice(1, at)), over, body: lowerBody(on, tree) }
  },
  WhileStatement(on, tree) {
    const { start, end, children } = tree
    return { type: 'while', start, end, test: on.code(children[1]!), body: lowerBody(on, tree) }
  },
  ImportStatement: lowerImport,
  IfStatement: lowerBranches,
  TryStatement: lowerBranches,
  ScopeStatement: (on, { start, end, children }) => ({
    type: 'outside',
    start,
    end,
    names: children.filter(({ name }) => name === 'VariableName').map((name) => on.source(name)),
  }),
  TypeDef: (on, tree) => on.block(tree, []),
}

function findName(on: PythonLowering, children: readonly Tree[]): { name?: string } {
  const name = children.find((each) => each.name === 'VariableName')
  return name ? { name: on.source(name) } : {}
}

function lowerBody(on: PythonLowering, tree: Tree): Code {
  return on.block(
    tree,
    tree.children.filter(({ name }) => name === 'Body'),
  )
}

/** `import a.b as c`, `from a import b as c`. */
function lowerImport(on: PythonLowering, tree: Tree): Code {
  const { start, end, children } = tree
  const at = children.findIndex(({ name }) => name === 'import')
  const dotted = (trees: readonly Tree[]) => trees.map((each) => on.source(each)).join('')
  const from = children[0]?.name === 'from' ? dotted(children.slice(1, at)) : ''
  const items = toItems(children.slice(at + 1).filter(({ name }) => name !== '(' && name !== ')'))
  const parts = items.flatMap((item): Code[] => {
    const as = item.findIndex(({ name }) => name === 'as')
    const path = dotted(as === -1 ? item : item.slice(0, as))
    const bound = as === -1 ? item[0] : item[as + 1]
    if (!bound || path === '') return []
    // `import a.b` binds `a`.
    const module = from === '' ? (as === -1 ? on.source(bound) : path) : `${from}.${path}`
    return [on.define(tree, on.name(bound), { type: 'module', start, end, path: module })]
  })
  return { type: 'block', start, end, parts }
}

const lowerings = { ...expressions, ...statements }
