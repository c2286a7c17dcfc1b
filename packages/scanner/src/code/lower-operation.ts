import type { Code, Tree } from './syntax.ts'

const choices: ReadonlySet<string> = new Set(['or', 'and', '||', '&&', '??'])

/**
 * Translates operators. Parsers nest `a + b + c` to the left as deeply as it has parts: it becomes one operation with
 * all of them.
 */
export function lowerOperation(tree: Tree, lower: (part: Tree) => Code, source: (part: Tree) => string): Code {
  const rights: { operator: string; part: Tree; end: number }[] = []
  let left: Tree | undefined = tree
  while (left?.name === 'BinaryExpression' && left.children.length >= 3) {
    const { children, end }: Tree = left
    // `not in` and `is not` are two nodes.
    rights.push({ operator: children.slice(1, -1).map(source).join(' '), part: children.at(-1)!, end })
    left = children[0]
  }
  const { start, end } = tree
  if (rights.length === 0) {
    const [sign, part] = tree.children
    if (!sign || !part) return { type: 'block', start, end, parts: tree.children.map(lower) }
    return { type: 'operation', start, end, operator: source(sign), parts: [lower(part)] }
  }
  let code = lower(left!)
  while (rights.length > 0) {
    const { operator, end: until } = rights.at(-1)!
    const parts = [code]
    while (rights.at(-1)?.operator === operator) parts.push(lower(rights.pop()!.part))
    code = choices.has(operator)
      ? { type: 'choice', start, end: until, parts }
      : { type: 'operation', start, end: until, operator, parts }
  }
  return code
}
