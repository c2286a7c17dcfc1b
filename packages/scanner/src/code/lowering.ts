import type { Code, Tree } from './syntax.ts'

type Span = Pick<Tree, 'start' | 'end'>

/** Translates one kind of node. */
export type Lower<On extends Lowering = Lowering> = (on: On, tree: Tree) => Code
/** By the name of a node. */
export type Lowerings<On extends Lowering> = Readonly<Record<string, Lower<On>>>

/** Translates the syntax tree of a language, with what all languages share. */
export abstract class Lowering {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** Whether a node can have a value: punctuation and comments have none. */
  abstract readonly isPart: (tree: Tree) => boolean

  /** Translates a node of a known kind; undefined for others. */
  protected abstract lower(tree: Tree): Code | undefined

  /** Nodes of unknown kinds stand for their parts. */
  code(tree: Tree): Code {
    return this.lower(tree) ?? this.parts(tree)
  }

  source({ start, end }: Span): string {
    return this.#text.slice(start, end)
  }

  parts(tree: Tree): Code {
    return this.block(tree, tree.children.filter(this.isPart))
  }

  block({ start, end }: Span, parts: readonly Tree[]): Code {
    return { type: 'block', start, end, parts: parts.map((part) => this.code(part)) }
  }

  text({ start, end }: Span, text: string): Code {
    return { type: 'text', start, end, text }
  }

  number({ start, end }: Span, number: number): Code {
    return { type: 'number', start, end, number }
  }

  name({ start, end }: Span): Code {
    return { type: 'name', start, end, name: this.source({ start, end }) }
  }

  define({ start, end }: Span, target: Code, value: Code): Code {
    return { type: 'assign', start, end, target, operator: 'define', value }
  }
}

/** Splits nodes at a separator, without comments. */
export function splitAt(trees: readonly Tree[], separator: string): Tree[][] {
  const parts: Tree[][] = [[]]
  for (const tree of trees) {
    if (tree.name === separator) parts.push([])
    else if (!tree.name.endsWith('Comment')) parts.at(-1)!.push(tree)
  }
  return parts
}

/** The items of a list, which are separated by commas. */
export function toItems(trees: readonly Tree[]): Tree[][] {
  return splitAt(trees, ',').filter(({ length }) => length > 0)
}

/** The only part of a node, or all. */
export const lowerInner: Lower = (on, tree) => {
  const [first, ...others] = tree.children.filter(on.isPart)
  return first && others.length === 0 ? on.code(first) : on.parts(tree)
}

export const lowerLast: Lower = (on, { children }) => on.code(children.at(-1)!)

/** Every branch counts. */
export const lowerBranches: Lower = (on, { start, end, children }) => ({
  type: 'choice',
  start,
  end,
  parts: children.filter(on.isPart).map((part) => on.code(part)),
})

const choices: ReadonlySet<string> = new Set(['or', 'and', '||', '&&', '??'])

/**
 * Translates operators. Parsers nest `a + b + c` to the left as deeply as it has parts: it becomes one operation with
 * all of them.
 */
export const lowerOperation: Lower = (on, tree) => {
  const rights: { operator: string; part: Tree; end: number }[] = []
  let left: Tree | undefined = tree
  while (left?.name === 'BinaryExpression' && left.children.length >= 3) {
    const { children, end }: Tree = left
    // `not in` and `is not` are two nodes.
    const signs = children.slice(1, -1)
    rights.push({ operator: signs.map((sign) => on.source(sign)).join(' '), part: children.at(-1)!, end })
    left = children[0]
  }
  const { start, end } = tree
  if (rights.length === 0) {
    const [sign, part] = tree.children
    if (!sign || !part) return on.block(tree, tree.children)
    return { type: 'operation', start, end, operator: on.source(sign), parts: [on.code(part)] }
  }
  let code = on.code(left!)
  while (rights.length > 0) {
    const { operator, end: until } = rights.at(-1)!
    const parts = [code]
    while (rights.at(-1)?.operator === operator) parts.push(on.code(rights.pop()!.part))
    code = choices.has(operator)
      ? { type: 'choice', start, end: until, parts }
      : { type: 'operation', start, end: until, operator, parts }
  }
  return code
}
