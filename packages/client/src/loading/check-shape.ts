import { includesLevel, type LoadLevel, type LoadedSkill } from '@skillstead/skill-format/loading'
import type { SearchResult } from '@skillstead/protocol'
import { RegistryError, isRecord } from '@skillstead/protocol/wire'

type Kind = 'text' | 'list' | 'map' | 'number' | 'any'

/** The required parts of a loaded skill, with the lowest level that contains each. Other parts are not checked. */
const parts: readonly (readonly [path: string, kind: Kind, from: LoadLevel])[] = [
  ['metadata.name', 'text', 'metadata'],
  ['metadata.fullName', 'text', 'metadata'],
  ['metadata.version', 'text', 'metadata'],
  ['metadata.description', 'text', 'metadata'],
  ['metadata.keywords', 'list', 'metadata'],
  ['frontmatter', 'map', 'metadata'],
  ['truncated', 'list', 'metadata'],
  ['contract', 'any', 'contract'],
  ['capabilities', 'list', 'contract'],
  ['toolDefinition.name', 'text', 'contract'],
  ['toolDefinition.parameters', 'map', 'contract'],
  ['summary', 'text', 'summary'],
  ['fullContent', 'text', 'full'],
]

const tests: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  list: Array.isArray,
  map: isRecord,
  number: (value) => typeof value === 'number',
  any: (value) => value !== undefined,
}

/** Checks that a response is a loaded skill of this level and version. Throws `upstream_failed` if it is not. */
export function checkLoaded(output: unknown, level: LoadLevel, version: string | undefined): LoadedSkill {
  const missing = parts.find(([path, kind, from]) => includesLevel(level, from) && !tests[kind](readAt(output, path)))
  if (missing) throw toInvalidShape(`a loaded skill without a valid '${missing[0]}'`)
  const loaded = output as LoadedSkill
  if (loaded.level !== level) throw toInvalidShape(`level '${loaded.level}' instead of '${level}'`)
  if (version !== undefined && loaded.metadata.version !== version) {
    throw toInvalidShape(`version ${loaded.metadata.version} instead of ${version}`)
  }
  return loaded
}

/** Checks that a response contains search results. Throws `upstream_failed` if it does not. */
export function checkFound(output: unknown): SearchResult {
  const skills = readAt(output, 'skills')
  if (Array.isArray(skills) && skills.every(isRecord) && tests.number(readAt(output, 'total')))
    return output as SearchResult
  throw toInvalidShape('something other than search results')
}

function readAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((found, key) => (isRecord(found) ? found[key] : undefined), value)
}

function toInvalidShape(what: string): RegistryError {
  return new RegistryError(
    'upstream_failed',
    `The registry sent ${what}. Is its version newer than that of this program?`,
  )
}
