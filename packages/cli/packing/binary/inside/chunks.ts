/** Where the code of the chunks is read from. */
interface ChunkSource {
  readCode(name: string): string
  /** What V8 made of the code when the executable was built. */
  readCompiled?(name: string): Uint8Array
  onScript?(name: string, script: import('node:vm').Script): void
}

type Chunk = (exports: object, require: (id: string) => unknown, module: { exports: object }) => void

/** Runs chunks by their names, each once and when it is first asked for; a chunk asks for others in the same way. */
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
    const chunk = script.runInThisContext() as Chunk
    chunk(module.exports, find, module)
    source.onScript?.(name, script)
    return module.exports
  }

  /** A chunk by `./NAME`, or what Node has built in. */
  function find(id: string): unknown {
    if (id.startsWith('./')) return load(id.slice(2))
    const found = process.getBuiltinModule(id)
    if (found) return found
    throw Object.assign(new Error(`Cannot find module '${id}'.`), { code: 'MODULE_NOT_FOUND' })
  }

  return load
}
