import { hash } from 'node:crypto'
import { endpoints, keysOf, type Endpoint, type EndpointName } from '@skillstead/protocol'
import type { LoadedSkill } from '@skillstead/skill-format/loading'
import { apiBase } from '../context/options.ts'

/** A row of the endpoint table, with data for handling it, computed once. */
export interface Route {
  readonly name: EndpointName
  readonly endpoint: Endpoint
  /** The full pattern, such as `/api/v1/skills/:name`. */
  readonly pattern: string
  readonly pathNames: readonly string[]
  /** The fields that are not in the path. If the body is an archive, all of them may be query parameters. */
  readonly queryNames: ReadonlySet<string>
  /** The fields that may be query parameters of a request without an archive; the others must be in the JSON body. */
  readonly plainQueryNames: ReadonlySet<string>
  /** Whether a read with this input counts as a download of a skill. */
  counts(input: Readonly<Record<string, unknown>>): boolean
  /** Returns the part of a response that its entity tag covers. Default: the whole response. */
  readonly toTagged: ((body: never) => unknown) | undefined
}

/** The reads that count as downloads (contract, Skills). Loading a skill below the level `full` does not count. */
const counted: Partial<Record<EndpointName, Route['counts']>> = {
  getSkillMd: () => true,
  getArchive: () => true,
  loadSkill: ({ level = 'full' }) => level === 'full',
}

/**
 * The parts of responses that entity tags cover. The download counter is left out, because it changes with each read.
 * The document is replaced by its hash, because encoding 9 MiB twice would block the event loop for too long.
 */
const tagged: Partial<Record<EndpointName, Route['toTagged']>> = {
  loadSkill({ fullContent, ...loaded }: LoadedSkill) {
    const content = fullContent === undefined ? undefined : hash('sha1', fullContent)
    return { ...loaded, content, metadata: { ...loaded.metadata, downloads: 0 } }
  },
}

/** The routes in the order of the table. */
export const routes: readonly Route[] = keysOf(endpoints).map((name) => {
  const endpoint: Endpoint = endpoints[name]
  const pathNames = [...endpoint.path.matchAll(/:([A-Za-z]+)/g)].map(([, parameter]) => parameter!)
  const fields = Object.keys(inputFields(endpoint))
  const queryNames = new Set(fields.filter((field) => field !== 'archive' && !pathNames.includes(field)))
  return {
    name,
    endpoint,
    pattern: apiBase + endpoint.path,
    pathNames,
    queryNames,
    plainQueryNames: hasBody(endpoint) ? new Set(endpoint.query) : queryNames,
    counts: counted[name] ?? (() => false),
    toTagged: tagged[name],
  }
})

const skillPattern = `${apiBase}/skills/:name`

/** The pattern for skill names with an unencoded slash; undefined if the route does not begin with a skill's name. */
export function toSlashedPattern({ pattern }: Route): string | undefined {
  return pattern.startsWith(skillPattern) ? pattern.replace(':name', ':owner/:name') : undefined
}

/** Words that follow the name of a skill in a path; after an owner they are not the name of a skill. */
const subresources: ReadonlySet<string> = new Set(
  routes.flatMap(({ pattern }) => /^\/([^/]+)/.exec(pattern.split(skillPattern)[1] ?? '')?.[1] ?? []),
)

/** Converts the parameters of a slashed pattern to those of the route; undefined if they do not name a skill. */
export function joinName({ owner = '', ...params }: Record<string, string>): Record<string, string> | undefined {
  const { name = '' } = params
  if (/%2f/i.test(owner + name) || subresources.has(name)) return undefined
  return { ...params, name: `${owner}%2F${name}` }
}

/** Whether the fields of a request are in its body. */
export function hasBody({ method }: Endpoint): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH'
}

/** The schemas of an endpoint's fields; every input is one flat object. */
export function inputFields(endpoint: Endpoint): Readonly<Record<string, Endpoint['input']>> {
  const { input } = endpoint
  if (!('entries' in input)) {
    const name = `${endpoint.method} ${endpoint.path}`
    throw new TypeError(`The endpoint table must define the input of ${name} with v.object or v.strictObject.`)
  }
  return input.entries as Record<string, Endpoint['input']>
}

/** The path of a request with another skill name; the other segments stay as the client sent them. */
export function renameInPath(route: Route, params: Record<string, string>, name: string): string {
  return route.pattern.replace(/(?:\*\*)?:([A-Za-z]+)/g, (_, parameter: string) =>
    parameter === 'name' ? encodeURIComponent(name) : (params[parameter] ?? ''),
  )
}
