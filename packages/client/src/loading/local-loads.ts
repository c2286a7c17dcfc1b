import type { RegistryApi, SearchResult } from '@skillstead/protocol'
import { toSearchName } from '@skillstead/protocol/wire'
import type { LoadedSkill } from '@skillstead/skill-format/loading'
import { checkFound, checkLoaded } from './check-shape.ts'
import type { LoadOptions, SearchOptions } from './load-each.ts'

/**
 * Loads and searches with a local API. Each call reads the registry. Nothing is cached or shared between callers,
 * because the registry can change between two calls.
 */
export function loadLocally(api: RegistryApi) {
  return {
    async load(name: string, options: LoadOptions = {}): Promise<LoadedSkill> {
      const { signal, level = 'full', version, maxTokens, priority } = options
      const input = { name, level, version, maxTokens, priority: priority && [...priority] }
      return checkLoaded(await api.loadSkill(input, { signal }), level, version)
    },
    async search(q: string, { signal, ...rest }: SearchOptions = {}): Promise<SearchResult> {
      const input = { ...rest, q }
      return checkFound(await api[toSearchName(input)](input, { signal }))
    },
    clear() {},
  }
}
