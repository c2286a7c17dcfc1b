import { readEscapes } from '../decoders.ts'
import { lowerBranches, lowerFunction, lowerInner, lowerLast, Lowering, toListItems } from '../lowering.ts'
import type { Lower, Lowerings, Shape } from '../lowering.ts'
import type { Code, Tree } from '../syntax.ts'

/** Translates a syntax tree of JavaScript or TypeScript. */
export function lowerJavaScript(tree: Tree, text: string): Code {
  return new Lowering(text, lowerings, ignored).code(tree)
}

/** Nodes without a value: types are erased, and labels name no value. */
const ignored = new Set(
  `( ) [ ] { } , ; : . ?. LineComment BlockComment RegExp Hashbang Label TypeAnnotation TypeArgList TypeParamList
   TypeAliasDeclaration InterfaceDeclaration export default`.split(/\s+/),
)

/** The key and value of a property, or the target of a pattern's property. */
function lowerProperty(on: Lowering, { children }: Tree): { key?: Code; value: Code } | undefined {
  const parts = children.filter(({ name }) => name !== 'Star' && name !== 'async' && !name.startsWith('Type'))
  const [first] = parts
  if (!first) return undefined
  if (first.name === 'Spread') return { value: on.code(parts.at(-1)!) }
  if (first.name === '[')
    return parts[1] && parts.length > 3 ? { key: on.code(parts[1]), value: on.code(parts.at(-1)!) } : undefined
  const name = parts.find((each) => each.name !== 'get' && each.name !== 'set') ?? first
  const isPlain = name.name.startsWith('Property') || name.name === 'VariableDefinition'
  const key = isPlain ? on.key(name) : on.code(name)
  const body = parts.findIndex((each) => each.name === 'ParamList')
  if (body !== -1) {
    const method = { ...parts[body]!, children: parts.slice(body) }
    return { key, value: on.at(method, lowerFunction(on, method)) }
  }
  const colon = parts.findIndex((each) => each.name === ':')
  const value = parts[colon + 1]
  return { key, value: colon === -1 || !value ? on.name(name) : on.code(value) }
}

const lowerMap: Lower = (on, { children }) => ({
  type: 'map',
  entries: children
    .filter(({ name }) => name === 'Property' || name === 'PatternProperty')
    .flatMap((child) => lowerProperty(on, child) ?? []),
})

/** `i++` */
const lowerIncrement: Lower = (on, tree) => {
  const [target, sign] = tree.children
  if (!target || !sign) return on.block([])
  const value = on.at(tree, { type: 'number', number: 1 })
  return { type: 'assign', target: on.code(target), operator: on.source(sign)[0]!, value }
}

/** How the nodes of JavaScript are translated, by their names. */
const lowerings: Lowerings = {
  VariableDefinition: (on, tree) => on.name(tree),
  this: (on, tree) => on.name(tree),
  BooleanLiteral: (on, tree) => ({ type: 'number', number: Number(on.source(tree) === 'true') }),
  String(on, tree) {
    const raw = on.source(tree)
    const isClosed = raw.length > 1 && raw.endsWith(raw[0]!)
    return { type: 'text', text: readEscapes(raw.slice(1, isClosed ? -1 : undefined)) }
  },
  TemplateString: (on, tree) => on.template(tree, tree.start + 1, tree.end - 1, readEscapes),
  TaggedTemplateExpression(on, { children }) {
    const [callee, text] = children
    if (!callee || !text) return on.block(children)
    const value = on.code(text)
    // `String.raw` gives the template as it is written.
    return on.source(callee) === 'String.raw' ? value : { type: 'call', callee: on.code(callee), args: [{ value }] }
  },
  SequenceExpression: lowerInner,
  JSXElement: lowerInner,
  ArrayPattern: (on, { children }) => ({ type: 'list', items: on.items(children.slice(1, -1)) }),
  ObjectExpression: lowerMap,
  ObjectPattern: lowerMap,
  NewExpression: (on, tree) => on.code({ ...tree, name: 'CallExpression' }),
  DynamicImport: (on, tree) => ({
    type: 'call',
    callee: on.at(tree, { type: 'module', path: 'import' }),
    args: on.items(tree.children.slice(2, -1)).map((value) => ({ value })),
  }),
  PostfixExpression: lowerIncrement,
  ConditionalExpression: (on, { children }) => ({ type: 'choice', parts: on.codes(children.slice(2)) }),
  AssignmentExpression(on, { children }) {
    const [target, sign, value] = children
    if (!target || !sign || !value) return on.block(children)
    const operator = sign.name === 'Equals' ? '=' : on.source(sign).slice(0, -1)
    return { type: 'assign', target: on.code(target), operator, value: on.code(value) }
  },
  YieldExpression: lowerLast,
  ArrowFunction: lowerFunction,
  FunctionExpression: lowerFunction,
  MethodDeclaration(on, tree) {
    const { key, value } = lowerProperty(on, tree) ?? {}
    return key?.type === 'text' && value?.type === 'function' ? { ...value, name: key.text } : on.block([])
  },
  PropertyDeclaration(on, { children }) {
    const name = children.find((each) => each.name.startsWith('Property'))
    const equals = children.findIndex((each) => each.name === 'Equals')
    const value = children[equals + 1]
    return name && value && equals > 0 ? on.define(on.name(name), on.code(value)) : on.block([])
  },
  VariableDeclaration: (on, { children }) => ({
    type: 'block',
    parts: toListItems(children.slice(1)).flatMap((part): Code[] => {
      const equals = part.findIndex(({ name }) => name === 'Equals')
      const [target, value] = [part[0]!, part[equals + 1]]
      if (equals < 1 || !value) return []
      return [on.at({ ...target, end: value.end }, on.define(on.code(target), on.code(value)))]
    }),
  }),
  ForStatement(on, { children }) {
    const spec = children.find(({ name }) => name.endsWith('Spec'))
    const body = on.code(children.at(-1)!)
    if (!spec) return body
    const at = spec.children.findIndex(({ name }) => name === 'of' || name === 'in')
    if (at === -1) return lowerForLoop(on, spec, body)
    const [target, , over] = spec.children.slice(at - 1)
    return { type: 'each', target: on.code(target!), over: on.code(over!), body }
  },
  SwitchStatement: lowerBranches,
  ImportDeclaration: lowerJavascriptImport,
  ExportDeclaration: lowerInner,
}

function lowerForLoop(on: Lowering, spec: Tree, body: Code): Shape {
  const parts = spec.children.slice(1, -1)
  const first = parts[0]?.name === 'VariableDeclaration' ? 1 : parts.findIndex(({ name }) => name === ';') + 1
  const second = parts.findIndex(({ name }, index) => index >= first && name === ';')
  const [initial, test, update] = [parts.slice(0, first), parts.slice(first, second), parts.slice(second + 1)].map(
    (part) => on.at(spec, on.block(part)),
  )
  const round = on.at(spec, { type: 'block', parts: [body, update!] })
  return { type: 'block', parts: [initial!, on.at(spec, { type: 'while', test: test!, body: round })] }
}

/** `import a, { b as c } from 'd'`, `import * as e from 'f'`. */
function lowerJavascriptImport(on: Lowering, { children }: Tree): Shape {
  const source = children.find(({ name }) => name === 'String')
  const from = source ? on.source(source).slice(1, -1) : ''
  const whole = children.filter(({ name }) => name === 'VariableDefinition').map((target) => on.bind(target, from))
  const group = children.find(({ name }) => name === 'ImportGroup')
  const named = toListItems(group?.children.slice(1, -1) ?? []).map((item) => {
    const name = on.source(item.find((each) => each.name.startsWith('Variable'))!)
    return on.bind(item.at(-1)!, name === 'default' ? from : `${from}.${name}`)
  })
  return { type: 'block', parts: [...whole, ...named] }
}
