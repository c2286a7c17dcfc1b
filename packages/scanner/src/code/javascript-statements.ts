import type { JavaScriptLowering } from './lower-javascript.ts'
import { lowerBranches, lowerInner, toItems, type Lowerings } from './lowering.ts'
import type { Code, Tree } from './syntax.ts'

/** How the statements of JavaScript are translated, by the names of their nodes. */
export const javascriptStatements: Lowerings<JavaScriptLowering> = {
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
