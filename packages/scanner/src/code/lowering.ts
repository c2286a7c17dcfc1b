import type { Argument, Code, Tree } from './syntax.ts'

type Span = Pick<Tree, 'start' | 'end'>
type WithoutSpan<T> = T extends Code ? Omit<T, 'start' | 'end'> : never

/** Code at the position of its node, unless it states its own position. */
export type Shape = WithoutSpan<Code> & Partial<Span>
/** Translates one kind of node. */
export type Lower = (on: Lowering, tree: Tree) => Shape
/** How nodes are translated, by the name of the node. */
export type Lowerings = Readonly<Record<string, Lower>>

/** Translates a syntax tree to {@link Code}, by the rules of its language and the rules of all languages. */
export class Lowering {
  readonly #text: string
  readonly #lowerings: Lowerings
  readonly #ignored: ReadonlySet<string>

  /** `ignored` are nodes without a value, such as punctuation, comments and types. */
  constructor(text: string, lowerings: Lowerings, ignored: ReadonlySet<string>) {
    this.#text = text
    this.#lowerings = { ...shared, ...lowerings }
    this.#ignored = ignored
  }

  /** Translates a node. A node without a rule becomes a block of its parts. */
  code(tree: Tree): Code {
    const lower = this.isPart(tree) ? this.#lowerings[tree.name] : undefined
    return this.at(tree, lower?.(this, tree) ?? this.block(this.isPart(tree) ? tree.children : []))
  }

  at({ start, end }: Span, shape: Shape): Code {
    // The cast is needed because TypeScript does not infer the type of a union that is spread.
    return { start, end, ...shape } as Code
  }

  readonly isPart = ({ name }: Tree): boolean => !this.#ignored.has(name)

  source({ start, end }: Span): string {
    return this.#text.slice(start, end)
  }

  block(trees: readonly Tree[]): Shape {
    return { type: 'block', parts: this.codes(trees) }
  }

  codes(trees: readonly Tree[]): Code[] {
    return trees.filter(this.isPart).map((tree) => this.code(tree))
  }

  /** The name or key that a node stands for. */
  key(tree: Tree): Code {
    return this.at(tree, { type: 'text', text: this.source(tree) })
  }

  name(tree: Tree): Code {
    return this.at(tree, { type: 'name', name: this.source(tree) })
  }

  define(target: Code, value: Code): Shape {
    return { type: 'assign', target, operator: 'define', value }
  }

  /** Defines a name as a part of a library. */
  bind(target: Tree, path: string): Code {
    return this.at(target, this.define(this.name(target), this.at(target, { type: 'module', path })))
  }

  /** One target or expression, or a list of several. */
  tuple(parts: readonly Tree[]): Code {
    const items = this.items(parts)
    if (items.length === 1 && !parts.some(({ name }) => name === ',')) return items[0]!
    return this.at({ start: parts[0]?.start ?? 0, end: parts.at(-1)?.end ?? 0 }, { type: 'list', items })
  }

  /** The items between commas; an item may be `*item` or `...item`. */
  items(parts: readonly Tree[]): Code[] {
    return toListItems(parts).map((item) => {
      const of = this.code(item.at(-1)!)
      return isSpread(item) ? this.at({ ...of, start: item[0]!.start }, { type: 'spread', of }) : of
    })
  }

  args({ children }: Tree): Argument[] {
    const inner = children.slice(1, children.at(-1)?.name === ')' ? -1 : undefined)
    if (inner.some(({ name }) => name === 'for')) return [{ value: this.comprehension(inner) }]
    return toListItems(inner).map((arg): Argument => {
      if (arg[1]?.name === 'AssignOp' && arg[2]) return { name: this.source(arg[0]!), value: this.code(arg[2]) }
      return { value: this.items(arg)[0]! }
    })
  }

  comprehension(inner: readonly Tree[]): Code {
    const at = inner.findIndex(({ name }) => name === 'for')
    const item = this.tuple(inner.slice(0, at).filter(({ name }) => name !== 'async' && name !== ':'))
    return splitAt(inner.slice(at + 1), 'for').reduceRight<Code>((body, clause) => {
      const over = clause.findIndex(({ name }) => name === 'in')
      const list = clause[over + 1]
      if (over < 1 || !list) return body
      const target = this.tuple(clause.slice(0, over))
      const span = { start: inner[0]!.start, end: inner.at(-1)!.end }
      return this.at(span, { type: 'comprehension', target, over: this.code(list), item: body })
    }, item)
  }

  /** A text with code in it, such as a template. Its content begins at `from` and ends at `to`. */
  template({ children }: Tree, from: number, to: number, read: (source: string) => string): Shape {
    const parts: Code[] = []
    let start = from
    const add = (end: number) => {
      if (end > start) parts.push(this.at({ start, end }, { type: 'text', text: read(this.source({ start, end })) }))
    }
    for (const hole of children.filter(({ name }) => name === 'Interpolation' || name === 'FormatReplacement')) {
      add(hole.start)
      const inner = hole.children.find(({ name }) => !/^(?:Interpolation|\{)/.test(name))
      if (inner) parts.push(this.code(inner))
      start = hole.end
    }
    add(to)
    return { type: 'template', parts }
  }
}

/** Splits nodes at a separator, and drops comments. */
export function splitAt(trees: readonly Tree[], separator: string): Tree[][] {
  const parts: Tree[][] = [[]]
  for (const tree of trees) {
    if (tree.name === separator) parts.push([])
    else if (!tree.name.endsWith('Comment')) parts.at(-1)!.push(tree)
  }
  return parts
}

/** The items of a list, which are separated by commas. */
export function toListItems(trees: readonly Tree[]): Tree[][] {
  return splitAt(trees, ',').filter(({ length }) => length > 0)
}

const isSpread = ([mark, ...of]: readonly Tree[]) => of.length > 0 && /^(?:Spread$|\*)/.test(mark!.name)

/** Translates a node to its only part, or to all of its parts. */
export const lowerInner: Lower = (on, { children }) => {
  const parts = on.codes(children)
  return parts.length === 1 ? parts[0]! : { type: 'block', parts }
}

export const lowerLast: Lower = (on, { children }) => on.code(children.at(-1)!)

/** Translates a node to a choice, of which every branch counts. */
export const lowerBranches: Lower = (on, { children }) => ({ type: 'choice', parts: on.codes(children) })

/** A function with a body, or with an expression that it returns. */
export const lowerFunction: Lower = (on, { children }) => {
  const last = children.at(-1)!
  const body = on.code(last)
  return {
    type: 'function',
    ...findName(on, children),
    parameters: lowerParameters(on, children.find(({ name }) => name === 'ParamList')?.children ?? []),
    body: last.name === 'Block' || last.name === 'Body' ? body : on.at(last, { type: 'return', value: body }),
  }
}

const targets = new Set(['VariableDefinition', 'ObjectPattern', 'ArrayPattern', 'VariableName'])

function lowerParameters(on: Lowering, trees: readonly Tree[]): Code[] {
  return toListItems(trees.filter(({ name }) => name !== '(' && name !== ')')).flatMap((part): Code[] => {
    const target = part.find(({ name }) => targets.has(name))
    if (!target) return []
    const of = on.code(target)
    if (/^(?:Spread|\*)$/.test(part[0]!.name)) return [on.at(target, { type: 'spread', of })]
    const equals = part.findIndex(({ name }) => name === 'Equals' || name === 'AssignOp')
    return [equals > 0 && part[equals + 1] ? on.at(target, on.define(of, on.code(part[equals + 1]!))) : of]
  })
}

const lowerClass: Lower = (on, { children }) => ({
  type: 'class',
  ...findName(on, children),
  body: on.code(children.at(-1)!),
})

function findName(on: Lowering, children: readonly Tree[]): { name?: string } {
  const isName = ({ name }: Tree, index: number) =>
    name === 'VariableDefinition' ||
    (name === 'VariableName' && /^(?:class|def)$/.test(children[index - 1]?.name ?? ''))
  const found = children.find(isName)
  return found ? { name: on.source(found) } : {}
}

const lowerList: Lower = (on, { children }) => {
  const inner = children.slice(1, -1)
  return inner.some(({ name }) => name === 'for') ? on.comprehension(inner) : { type: 'list', items: on.items(inner) }
}

const choices: ReadonlySet<string> = new Set(['or', 'and', '||', '&&', '??'])

/**
 * Translates operators. Parsers nest `a + b + c` to the left as deeply as it has parts: such a chain becomes one
 * operation with all parts.
 */
const lowerOperation: Lower = (on, tree) => {
  const rights: { operator: string; part: Tree; end: number }[] = []
  let left: Tree = tree
  while (left.name === 'BinaryExpression' && left.children.length >= 3) {
    const { children, end }: Tree = left
    // The operators `not in` and `is not` consist of two nodes each.
    const operator = children.slice(1, -1).map((sign) => on.source(sign))
    rights.push({ operator: operator.join(' '), part: children.at(-1)!, end })
    left = children[0]!
  }
  if (rights.length === 0) {
    const [sign, part] = tree.children
    if (!sign || !part) return on.block(tree.children)
    return { type: 'operation', operator: on.source(sign), parts: [on.code(part)] }
  }
  let code = on.code(left)
  while (rights.length > 0) {
    const { operator, end } = rights.at(-1)!
    const parts = [code]
    while (rights.at(-1)?.operator === operator) parts.push(on.code(rights.pop()!.part))
    const shape: Shape = choices.has(operator) ? { type: 'choice', parts } : { type: 'operation', operator, parts }
    code = on.at({ start: tree.start, end }, shape)
  }
  return code
}

/** How nodes are translated that several languages have. */
const shared: Lowerings = {
  VariableName: (on, tree) => on.name(tree),
  Number: (on, tree) => ({ type: 'number', number: Number(on.source(tree).replaceAll(/[_n]/g, '')) }),
  ParenthesizedExpression: lowerInner,
  ArrayExpression: lowerList,
  MemberExpression(on, { children }) {
    const of = on.code(children[0]!)
    const bracket = children.findIndex(({ name }) => name === '[')
    if (bracket === -1) return { type: 'member', of, key: on.key(children.at(-1)!) }
    const inner = children.slice(bracket + 1).filter(({ name }) => name !== ']')
    if (!inner.some(({ name }) => name === ':')) return { type: 'member', of, key: on.tuple(inner) }
    return { type: 'slice', of, bounds: splitAt(inner, ':').map(([bound]) => bound && on.code(bound)) }
  },
  CallExpression(on, { children }) {
    const parts = children.filter(({ name }) => name !== 'new' && name !== '?.' && !name.startsWith('Type'))
    const [callee, args] = parts
    if (!callee) return on.block([])
    return { type: 'call', callee: on.code(callee), args: args?.name === 'ArgList' ? on.args(args) : [] }
  },
  BinaryExpression: lowerOperation,
  UnaryExpression: lowerOperation,
  AwaitExpression: lowerLast,
  ReturnStatement(on, { children }) {
    const parts = children.slice(1).filter(({ name }) => name !== ';')
    return { type: 'return', value: parts.length > 0 ? on.tuple(parts) : on.at(children[0]!, on.block([])) }
  },
  WhileStatement: (on, tree) => ({
    type: 'while',
    test: on.code(tree.children[1]!),
    body: on.at(tree, on.block(tree.children.slice(2))),
  }),
  ClassDefinition: lowerClass,
  ClassDeclaration: lowerClass,
  ClassExpression: lowerClass,
  FunctionDefinition: lowerFunction,
  FunctionDeclaration: lowerFunction,
  IfStatement: lowerBranches,
  TryStatement: lowerBranches,
}
