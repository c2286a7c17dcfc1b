/** The source of the chunks' code. */
interface ChunkSource {
  readCode(name: string): string
  /** V8's code cache from the build of the executable. */
  readCompiled?(name: string): Uint8Array
  onScript?(name: string, script: import('node:vm').Script): void
}

type Chunk = (exports: object, require: (id: string) => unknown, module: { exports: object }) => void

/** Runs chunks by name, each once on first use; a chunk loads other chunks the same way. */
export function createLoader(source: ChunkSource): (name: string) => object {
  const { Script } = process.getBuiltinModule('node:vm')
  const loaded = new Map<string, { exports: object }>()

  function load(name: string): object {
    const known = loaded.get(name)
    if (known) return known.exports
    const module = { exports: {} }
    loaded.set(name, module)
    const options = { filename: `skillstead/${name}`, cachedData: source.readCompiled?.(name) }
    const script = new Script(source.readCode(name), options)
    const chunk: Chunk = script.runInThisContext()
    chunk(module.exports, find, module)
    source.onScript?.(name, script)
    return module.exports
  }

  /** A chunk by `./NAME`, or a built-in module of Node. */
  function find(id: string): unknown {
    if (id.startsWith('./')) return load(id.slice(2))
    const found = process.getBuiltinModule(id)
    if (found) return found
    throw Object.assign(new Error(`Cannot find module '${id}'.`), { code: 'MODULE_NOT_FOUND' })
  }

  return load
}
