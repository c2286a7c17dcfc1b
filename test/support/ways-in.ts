import { createClient } from '@skillstead/client'
import { guest, localApi, type Registry } from '@skillstead/core'
import { localCall } from '@skillstead/core/internal'
import {
  endpoints,
  errorTable,
  toProblemType,
  type Endpoint,
  type EndpointName,
  type Problem,
  type RegistryApi,
} from '@skillstead/protocol'
import { listenNode } from '@skillstead/server'
import * as v from 'valibot'
import { expect } from 'vitest'
import { toStrictSchema } from './strict-schema.ts'
import { steady } from './steady.ts'

/** What a caller may send along with every call. */
export interface Tokens {
  readonly agentToken?: string
  readonly caseToken?: string
  readonly shareToken?: string
}

/** A way into a registry, under a key or as a guest. */
export interface Way {
  api(key: string | undefined, tokens?: Tokens): RegistryApi
  statusOf(key: string | undefined, name: EndpointName, input: Record<string, unknown>): Promise<number>
  request(path: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

export function openInProcess(registry: Registry): Way {
  const toCaller = async (key: string | undefined) => (key === undefined ? guest : registry.authenticate(key))
  return {
    api: (key, tokens) =>
      checked(
        byName((name) => async (input) => {
          const api = localApi(registry, await toCaller(key), tokens) as unknown as Record<string, AnyFunction>
          return api[name]!(input)
        }),
      ),
    async statusOf(key, name, input) {
      const { status } = await localCall(registry, name, input, await toCaller(key))
      return status
    },
    request: () => Promise.reject(new TypeError('There are no requests in-process.')),
    close: async () => {},
  }
}

export async function openHttp(registry: Registry): Promise<Way> {
  const trustedProxies = ['127.0.0.1']
  const node = await listenNode(registry, { port: 0, host: '127.0.0.1', ...steady, graceMs: 1000, trustedProxies })
  const toClient = (key: string | undefined, check: typeof fetch, tokens?: Tokens) =>
    checked(createClient({ baseUrl: node.url, apiKey: key, fetch: check, ...tokens }))
  return {
    api: (key, tokens) => toClient(key, readFromAnywhere, tokens),
    async statusOf(key, name, input) {
      let status = 0
      const client = toClient(key, async (url, init) => {
        const response = await readFromAnywhere(url, init)
        status = response.status
        return response
      }) as unknown as Record<string, AnyFunction>
      await client[name]!(input)
      return status
    },
    request: (path, init) => fetchChecked(node.url + path, init),
    close: () => node.close(),
  }
}

/** Every answer over HTTP carries these, and every problem is one (docs/api.md#errors). */
const fetchChecked: typeof fetch = async (url, init) => {
  const response = await fetch(url, init)
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-request-id']) {
    expect(response.headers.get(name), `${name} of ${init?.method ?? 'GET'} ${url}`).not.toBeNull()
  }
  if (response.status < 400 || init?.method === 'HEAD') return response
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const problem = (await response.clone().json()) as Problem
  v.parse(ProblemSchema, problem)
  expect(problem).toMatchObject({ status: response.status, type: toProblemType(problem.code) })
  expect(errorTable[problem.code].status).toBe(response.status)
  expect(problem.requestId).toBe(response.headers.get('x-request-id'))
  return response
}

let reads = 0
/** Each read comes from an address of its own, so that each download counts, as each does in-process. */
const readFromAnywhere: typeof fetch = (url, init) => {
  if ((init?.method ?? 'GET') !== 'GET') return fetchChecked(url, init)
  reads += 1
  const address = `10.${reads >> 16}.${(reads >> 8) & 255}.${reads & 255}`
  return fetchChecked(url, { ...init, headers: { ...init?.headers, 'x-forwarded-for': address } })
}

const ProblemSchema = v.strictObject({
  type: v.string(),
  title: v.string(),
  status: v.number(),
  detail: v.pipe(v.string(), v.minLength(1)),
  code: v.picklist(Object.keys(errorTable)),
  requestId: v.string(),
  errors: v.optional(v.array(v.strictObject({ path: v.string(), message: v.pipe(v.string(), v.minLength(1)) }))),
})

type AnyFunction = (input?: Record<string, unknown>) => Promise<unknown>

const names = Object.keys(endpoints) as EndpointName[]

function byName(make: (name: EndpointName) => AnyFunction): RegistryApi {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as unknown as RegistryApi
}

const outputSchemas = new Map(names.map((name) => [name, toStrictSchema((endpoints[name] as Endpoint).output)]))

/** The same interface, with every answer held against the endpoint table: nothing missing, nothing undeclared. */
export function checked(api: RegistryApi): RegistryApi {
  return byName((name) => async (input) => {
    const output = await (api as unknown as Record<string, AnyFunction>)[name]!(input)
    const { success, issues } = v.safeParse(outputSchemas.get(name)!, output)
    if (!success) {
      const wrong = issues.map((issue) => `${v.getDotPath(issue) ?? ''}: ${issue.message}`).join('\n')
      throw new Error(`The answer of ${name} is not what the endpoint table declares:\n${wrong}`)
    }
    return output
  })
}
