/**
 * The import cycles that include a folder, at every level: each is the list of its folders and files. Files of one
 * folder may import each other. Tarjan's strongly connected components.
 */
export function findFolderCycles(imports: readonly (readonly [from: string, to: string])[]): string[] {
  const levels = new Map<string, Map<string, Set<string>>>()
  for (const [from, to] of imports) {
    const [source, target] = [from.split('/'), to.split('/')]
    const depth = source.findIndex((part, i) => part !== target[i])
    const level = source.slice(0, depth).join('/')
    const [a, b] = [source, target].map((path) => path.slice(0, depth + 1).join('/'))
    if (depth === -1 || a === b) continue
    const edges = levels.get(level) ?? new Map<string, Set<string>>()
    levels.set(level, edges.set(a!, (edges.get(a!) ?? new Set()).add(b!)))
  }
  return [...levels.values()]
    .flatMap(findComponents)
    .filter((names) => names.length > 1 && names.some((name) => !/\.tsx?$/.test(name)))
    .map((names) => names.toSorted().join(', '))
    .toSorted()
}

/** The import cycles of files: each is the list of its files. */
export function findFileCycles(imports: readonly (readonly [from: string, to: string])[]): string[] {
  const edges = new Map<string, Set<string>>()
  for (const [from, to] of imports) edges.set(from, (edges.get(from) ?? new Set()).add(to))
  const cycles = findComponents(edges).filter((files) => files.length > 1)
  return cycles.map((files) => files.toSorted().join(', ')).toSorted()
}

function findComponents(edges: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const components: string[][] = []
  const stack: string[] = []
  const indexes = new Map<string, number>()
  const lowest = new Map<string, number>()

  function visit(node: string): void {
    indexes.set(node, indexes.size)
    lowest.set(node, indexes.get(node)!)
    stack.push(node)
    for (const next of edges.get(node) ?? []) {
      if (!indexes.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!))
    }
    if (lowest.get(node) === indexes.get(node)) components.push(stack.splice(stack.indexOf(node)))
  }

  for (const node of edges.keys()) if (!indexes.has(node)) visit(node)
  return components
}
