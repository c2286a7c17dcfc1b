import { endpoints, errorTable, type Endpoint } from '@skillstead/protocol'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { readRows, readSections } from '../support/doc-sections.ts'
import { toStrictSchema } from '../support/strict-schema.ts'

const endpointPattern = /^`([A-Z]+) (\/.*)`$/

/** The endpoints of the tables in the base API of docs/api.md. */
const specified = readSections('docs/api.md')
  .filter(({ within }) => within === 'the-base-api')
  .flatMap((section) =>
    readRows(section)
      .map(([endpoint, auth, parameters]) => ({ section: section.title, endpoint, auth, parameters }))
      .filter(({ endpoint }) => endpointPattern.test(endpoint!)),
  )
  .map(({ section, endpoint, auth, parameters }) => {
    const [, method, path] = endpointPattern.exec(endpoint!)!
    const names = [...parameters!.matchAll(/`(\w+)`/g)].map(([, name]) => name)
    return { section, method: method!, path: path!, auth: auth === 'guest' ? 'none' : auth, parameters: names }
  })

/** The error codes with their statuses. */
const codes: Record<number, readonly string[]> = {
  400: ['invalid_request'],
  401: ['unauthorized'],
  403: ['forbidden', 'plan_required'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  409: ['version_exists', 'name_taken', 'invalid_transition', 'conflict'],
  410: ['recalled'],
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  422: ['invalid_skill', 'idempotency_key_reused'],
  429: ['rate_limited'],
  451: ['taken_down'],
  500: ['internal'],
  501: ['not_implemented'],
  502: ['upstream_failed'],
  503: ['offline', 'overloaded', 'shutting_down'],
  504: ['upstream_timeout'],
}

const table = Object.entries(endpoints) as [string, Endpoint][]
const find = (method: string, path: string) => table.find(([, row]) => row.method === method && row.path === path)
const fieldsOf = ({ input }: Endpoint) => Object.keys((input as unknown as { entries: object }).entries)

describe('the endpoint table', () => {
  it('is checked against every endpoint of the base API', () => {
    expect(specified).toHaveLength(38)
  })

  it.each(specified)(
    'has the endpoint $method $path of section $section, with auth $auth',
    ({ method, path, auth, parameters }) => {
      const [, endpoint] = find(method, path) ?? []
      expect(endpoint, 'is in the table').toBeDefined()
      expect(endpoint!.auth).toBe(auth)
      expect(fieldsOf(endpoint!)).toEqual(expect.arrayContaining([...parameters]))
    },
  )

  it('requires the Pro plan for every webhook endpoint and no other', () => {
    const paid = table.filter(([, row]) => row.plan !== undefined)
    expect(paid.every(([, row]) => row.plan === 'pro' && row.path.startsWith('/webhooks'))).toBe(true)
    expect(paid).toHaveLength(table.filter(([, row]) => row.path.startsWith('/webhooks')).length)
  })

  it.each([
    ['searchSkills', { page: 1, limit: 20 }, 100],
    ['getLeaderboard', { limit: 10 }, 100],
    ['listExternal', { limit: 20, registry: 'all' }, 100],
    ['getTrending', { limit: 10, period: 'week' }, 100],
    ['listAgents', { limit: 20, sort: 'trust' }, 100],
    ['listRequests', { sort: 'votes' }, 100],
    ['listAgentReviews', { sort: 'recent' }, 100],
  ] as const)('has the defaults and the maximum of %s', (name, defaults, max) => {
    const input = 'path' in endpoints[name] && endpoints[name].path.includes(':name') ? { name: 'x' } : {}
    expect(v.parse(endpoints[name].input, input)).toMatchObject(defaults)
    expect(v.safeParse(endpoints[name].input, { ...input, limit: String(max) }).success).toBe(true)
    expect(v.safeParse(endpoints[name].input, { ...input, limit: String(max + 1) }).success).toBe(false)
  })

  it('has each method and path only once', () => {
    const keys = table.map(([, { method, path }]) => `${method} ${path.replace(/:\w+/g, ':')}`)
    expect(keys).toEqual([...new Set(keys)])
  })

  it('accepts `page` for every list with paging fields', () => {
    for (const [name, { output, input }] of table) {
      const { entries } = output as unknown as { entries?: object }
      if (!entries || !('totalPages' in entries)) continue
      expect(Object.keys((input as unknown as { entries: object }).entries), `${name}`).toEqual(
        expect.arrayContaining(['page', 'limit']),
      )
    }
  })

  it('rejects unknown fields of bodies and ignores unknown query parameters', () => {
    for (const [name, { method, input }] of table) {
      expect((input as unknown as { type: string }).type, `${name}`).toBe(method === 'GET' ? 'object' : 'strict_object')
    }
  })

  it('declares output schemas that validate responses', () => {
    for (const [name, { output }] of table) expect(() => toStrictSchema(output), `${name}`).not.toThrow()
    const strict = toStrictSchema(endpoints.getMe.output)
    expect(v.safeParse(strict, { passwordHash: 'x' }).issues?.map((issue) => v.getDotPath(issue))).toContain(
      'passwordHash',
    )
  })
})

describe('the error table', () => {
  it('has exactly the expected error codes, each with its expected status', () => {
    const expected = Object.entries(codes).flatMap(([status, list]) => list.map((code) => [code, Number(status)]))
    const actual = Object.entries(errorTable).map(([code, { status }]) => [code, status])
    expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(expected))
  })

  it('has a title for each code', () => {
    for (const { title } of Object.values(errorTable)) expect(title).toMatch(/^[A-Z][^.]+$/)
  })
})
