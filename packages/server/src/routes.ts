import { endpoints, type Endpoint, type EndpointName } from '@skillstead/protocol'
import type { LoadedSkill } from '@skillstead/skill-format/loading'

/** Where the interface begins. */
export const apiBase = '/api/v1'

/** A row of the endpoint table with what answering needs of it, worked out once. */
export interface Route {
  readonly name: EndpointName
  readonly endpoint: Endpoint
  /** The pattern below the root, as in `/api/v1/skills/:name`. */
  readonly pattern: string
  readonly pathNames: readonly string[]
  /** The fields besides those of the path: all may come as query parameters where the body is an archive. */
  readonly queryNames: ReadonlySet<string>
  /** The fields that may come as query parameters otherwise: what a body can carry comes in the body alone. */
  readonly plainQueryNames: ReadonlySet<string>
  /** Whether reading it with this input is a use of a skill, which is counted. */
  counts(input: Readonly<Record<string, unknown>>): boolean
  /** What of an answer its entity tag is made of; all of it where this is absent. */
  readonly toTagged: ((body: never) => unknown) | undefined
}

/** The downloads (contract, Skills): reading these uses a skill. Below `full` loading is no more than looking at it. */
const counted: Partial<Record<EndpointName, Route['counts']>> = {
  getSkillMd: () => true,
  getArchive: () => true,
  loadSkill: ({ level = 'full' }) => level === 'full',
}

/** A counter that every reading raises would make an answer new to whoever has just read it. */
const tagged: Partial<Record<EndpointName, Route['toTagged']>> = {
  loadSkill: (loaded: LoadedSkill) => ({ ...loaded, metadata: { ...loaded.metadata, downloads: 0 } }),
}

/** The table in its own order. */
export const routes: readonly Route[] = Object.entries(endpoints).map(([key, row]) => {
  const name = key as EndpointName
  const endpoint: Endpoint = row
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

/** Where a skill's name has its slash as it is; undefined for what has no name of a skill there. */
export function toSlashedPattern({ pattern }: Route): string | undefined {
  return pattern.startsWith(skillPattern) ? pattern.replace(':name', ':owner/:name') : undefined
}

/** The words that come after the name of a skill: after an owner they mean the same, and no skill. */
const subresources: ReadonlySet<string> = new Set(
  routes.flatMap(({ pattern }) => /^\/([^/]+)/.exec(pattern.split(skillPattern)[1] ?? '')?.[1] ?? []),
)

/** The parameters of a slashed pattern as those of the route; undefined where they name no skill. */
export function joinName({ owner = '', ...params }: Record<string, string>): Record<string, string> | undefined {
  const { name = '' } = params
  if (/%2f/i.test(owner + name) || subresources.has(name)) return undefined
  return { ...params, name: `${owner}%2F${name}` }
}

/** Whether the fields of a request come in its body. */
export function hasBody({ method }: Endpoint): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH'
}

/** The schemas of an endpoint's fields; every input is one flat object. */
export function inputFields(endpoint: Endpoint): Readonly<Record<string, Endpoint['input']>> {
  const { input } = endpoint
  if (!('entries' in input)) throw new TypeError(`The input of ${endpoint.method} ${endpoint.path} is not an object.`)
  return input.entries as Record<string, Endpoint['input']>
}

/** The path again with another skill in it, the rest as it was sent. */
export function renameInPath(route: Route, params: Record<string, string>, name: string): string {
  return route.pattern.replace(/(?:\*\*)?:([A-Za-z]+)/g, (_, parameter: string) =>
    parameter === 'name' ? encodeURIComponent(name) : (params[parameter] ?? ''),
  )
}
