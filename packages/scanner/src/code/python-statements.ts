import type { PythonLowering } from './lower-python.ts'
import { lowerBranches, splitAt, toItems, type Lower, type Lowerings } from './lowering.ts'
import type { Code, Tree } from './syntax.ts'

type LowerPython = Lower<PythonLowering>

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
export const pythonStatements: Lowerings<PythonLowering> = {
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
