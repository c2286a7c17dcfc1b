import type { PythonLowering } from './lower-python.ts'
import { lowerInner, lowerLast, lowerOperation, splitAt, toItems, type Lower, type Lowerings } from './lowering.ts'
import type { Code } from './syntax.ts'

type LowerPython = Lower<PythonLowering>

const list: LowerPython = (on, { start, end, children }) => {
  const inner = children.slice(1, -1)
  if (inner.some(({ name }) => name === 'for')) return on.comprehension(inner)
  return { type: 'list', start, end, items: toItems(inner).map((item) => on.item(item)) }
}

/** How the expressions of Python are translated, by the names of their nodes. */
export const pythonExpressions: Lowerings<PythonLowering> = {
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
