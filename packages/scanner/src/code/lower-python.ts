import { readEscapes } from './escapes.ts'
import { Lowering, splitAt, toItems, type Lowerings } from './lowering.ts'
import { pythonExpressions } from './python-expressions.ts'
import { pythonStatements } from './python-statements.ts'
import type { Argument, Code, Tree } from './syntax.ts'

/** Translates a syntax tree of Python. */
export function lowerPython(tree: Tree, text: string): Code {
  return new PythonLowering(text).code(tree)
}

const lowerings: Lowerings<PythonLowering> = { ...pythonExpressions, ...pythonStatements }
const punctuation = new Set(['(', ')', '[', ']', '{', '}', ',', ':', '.', 'Comment', ';'])

export class PythonLowering extends Lowering {
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
