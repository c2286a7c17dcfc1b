import { readEscapes } from '../decoders.ts'
import { lowerFunction, Lowering, splitAt, toListItems, type Lower, type Lowerings, type Shape } from '../lowering.ts'
import type { Code, Tree } from '../syntax.ts'

/** Translates a syntax tree of Python. */
export function lowerPython(tree: Tree, text: string): Code {
  return new Lowering(text, lowerings, ignored).code(tree)
}

const ignored = new Set(['(', ')', '[', ']', '{', '}', ',', ':', '.', 'Comment', ';', 'TypeDef'])

const lowerString: Lower = (on, tree) => {
  const raw = on.source(tree)
  const [open, prefix, quote] = /^([a-z]{0,2})('''|"""|'|")/i.exec(raw) ?? ['', '', '']
  const isClosed = raw.length >= open.length + quote!.length && raw.endsWith(quote!)
  const stop = raw.length - (isClosed ? quote!.length : 0)
  const read = (part: string) => (/r/i.test(prefix!) ? part : readEscapes(part))
  if (tree.name === 'String') return { type: 'text', text: read(raw.slice(open.length, stop)) }
  return on.template(tree, tree.start + open.length, tree.start + stop, (part) =>
    read(part).replaceAll('{{', '{').replaceAll('}}', '}'),
  )
}

const lowerList: Lower = (on, tree) => on.code({ ...tree, name: 'ArrayExpression' })

const lowerAssignment: Lower = (on, tree) => {
  const parts = tree.children.filter(({ name }) => name !== 'TypeDef')
  const update = parts.find(({ name }) => name === 'UpdateOp')
  const operator = update ? on.source(update).slice(0, -1) : 'define'
  const sides = splitAt(
    parts.map((part) => (part === update ? { ...part, name: 'AssignOp' } : part)),
    'AssignOp',
  ).filter(({ length }) => length > 0)
  return sides
    .slice(0, -1)
    .reduceRight<Code>(
      (value, side) => on.at(tree, { type: 'assign', target: on.tuple(side), operator, value }),
      on.tuple(sides.at(-1) ?? []),
    )
}

const lowerBody = (on: Lowering, { children }: Tree): Code[] => on.codes(children.filter(({ name }) => name === 'Body'))

/** How the nodes of Python are translated, by their names. */
const lowerings: Lowerings = {
  Boolean: (on, tree) => ({ type: 'number', number: Number(on.source(tree) === 'True') }),
  String: lowerString,
  FormatString: lowerString,
  ContinuedString: (on, { children }) => ({ type: 'template', parts: on.codes(children) }),
  TupleExpression: lowerList,
  SetExpression: lowerList,
  ArrayComprehensionExpression: lowerList,
  ComprehensionExpression: lowerList,
  SetComprehensionExpression: lowerList,
  DictionaryComprehensionExpression: lowerList,
  DictionaryExpression: (on, { children }) => ({
    type: 'map',
    entries: toListItems(children.slice(1, -1)).map((entry) => ({
      ...(entry[1]?.name === ':' && { key: on.code(entry[0]!) }),
      value: on.code(entry.at(-1)!),
    })),
  }),
  ConditionalExpression: (on, { children: [value, , , , other] }) => ({
    type: 'choice',
    parts: on.codes([value!, ...(other ? [other] : [])]),
  }),
  LambdaExpression: lowerFunction,
  NamedExpression: lowerAssignment,
  AssignStatement: lowerAssignment,
  UpdateStatement: lowerAssignment,
  YieldStatement: (on, tree) => on.code({ ...tree, name: 'ReturnStatement' }),
  WithStatement(on, tree) {
    const inside = tree.children.filter(({ name }) => !['with', 'async', 'Body', '(', ')', ':'].includes(name))
    const items = toListItems(inside).map(([value, as, target]) => {
      const code = on.code(value!)
      return as?.name === 'as' && target ? on.at({ ...code, end: target.end }, on.define(on.code(target), code)) : code
    })
    return { type: 'block', parts: [...items, ...lowerBody(on, tree)] }
  },
  ForStatement(on, tree) {
    const inside = tree.children.filter(({ name }) => name !== 'async')
    const at = inside.findIndex(({ name }) => name === 'in')
    const bodies = inside.findIndex(({ name }) => name === 'Body')
    const body = on.at(tree, { type: 'block', parts: lowerBody(on, tree) })
    if (at === -1 || bodies === -1) return body
    return { type: 'each', target: on.tuple(inside.slice(1, at)), over: on.tuple(inside.slice(at + 1, bodies)), body }
  },
  ImportStatement: lowerPythonImport,
  ScopeStatement: (on, { children }) => ({
    type: 'outside',
    names: children.filter(({ name }) => name === 'VariableName').map((name) => on.source(name)),
  }),
}

/** `import a.b as c`, `from a import b as c`. */
function lowerPythonImport(on: Lowering, { children }: Tree): Shape {
  const at = children.findIndex(({ name }) => name === 'import')
  const dotted = (trees: readonly Tree[]) => trees.map((each) => on.source(each)).join('')
  const from = children[0]?.name === 'from' ? dotted(children.slice(1, at)) : ''
  const items = toListItems(children.slice(at + 1).filter(({ name }) => name !== '(' && name !== ')'))
  const parts = items.flatMap((item): Code[] => {
    const as = item.findIndex(({ name }) => name === 'as')
    const path = dotted(as === -1 ? item : item.slice(0, as))
    const bound = item[as + 1]
    if (!bound || path === '') return []
    // `import a.b` binds `a`.
    const module = as === -1 ? on.source(bound) : path
    return [on.bind(bound, from === '' ? module : `${from}.${path}`)]
  })
  return { type: 'block', parts }
}
