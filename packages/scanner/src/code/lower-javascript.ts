import { javascriptExpressions } from './javascript-expressions.ts'
import { javascriptStatements } from './javascript-statements.ts'
import { Lowering, toItems, type Lowerings } from './lowering.ts'
import type { Argument, Code, Tree } from './syntax.ts'

/** Translates a syntax tree of JavaScript or TypeScript. */
export function lowerJavaScript(tree: Tree, text: string): Code {
  return new JavaScriptLowering(text).code(tree)
}

const lowerings: Lowerings<JavaScriptLowering> = { ...javascriptExpressions, ...javascriptStatements }
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

export class JavaScriptLowering extends Lowering {
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
