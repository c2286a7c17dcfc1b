/** Names, versions and ids from earlier responses, by kind. Later requests use them to reach deep states. */
export interface Pool {
  add(kind: string, value: string): void
  of(kind: string): readonly string[]
  /** Removes a value of a deleted object. */
  drop(value: string): void
  /** Collects values of a JSON response for later requests, and the actor that created the object, if any. */
  learn(path: string, answer: unknown, maker?: string): void
  /** Returns the actor that created the object with this id. */
  makerOf(id: string): string | undefined
}

const keptMax = 24
const named = new Set(['username', 'slug', 'agentKey', 'digest', 'version', 'caseToken', 'agentToken', 'token'])

export function createPool(): Pool {
  const kinds = new Map<string, { values: string[]; count: number }>()
  const makers = new Map<string, string>()

  function add(kind: string, value: string): void {
    const kept = kinds.get(kind) ?? { values: [], count: 0 }
    kinds.set(kind, kept)
    if (kept.values.includes(value)) return
    kept.values[kept.count++ % keptMax] = value
  }

  function walk(value: unknown, collections: readonly string[]): void {
    if (Array.isArray(value)) for (const item of value.slice(0, 5)) walk(item, collections)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    for (const [field, inner] of Object.entries(value)) {
      if (typeof inner !== 'string') walk(inner, Array.isArray(inner) ? [collections[0]!, field] : collections)
      else if (field === 'id') for (const collection of collections) add(`id of ${collection}`, inner)
      else if (field === 'fullName') add('name', inner)
      else if (field === 'path') add('path', inner)
      else if (named.has(field)) add(field, inner)
    }
  }

  return {
    add,
    of: (kind) => kinds.get(kind)?.values ?? [],
    drop(value) {
      for (const kept of kinds.values()) {
        const place = kept.values.indexOf(value)
        if (place === -1) continue
        kept.values.splice(place, 1)
        kept.count = kept.values.length
      }
    },
    learn(path, answer, maker) {
      const { id } = answer as { id?: unknown }
      if (maker !== undefined && typeof id === 'string' && makers.size < 10_000) makers.set(id, maker)
      walk(answer, [collectionOf(path)])
    },
    makerOf: (id) => makers.get(id),
  }
}

/** The last part of a path that is not a parameter: the collection that `{id}` belongs to. */
export function collectionOf(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && !part.startsWith('{'))
  return parts.at(-1) ?? ''
}
