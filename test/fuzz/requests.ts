import { hostileText, hostileValue, oddAuthorizations, oddHeaders, rawJson } from './hostile.ts'
import type { Operation, Schema } from './operations.ts'
import { makeObject, makeValid, type Source } from './valid.ts'

export type Temper = 'valid' | 'mutated' | 'hostile'

/** A request as sent, with the data to judge its response. */
export interface FuzzRequest {
  readonly temper: Temper
  readonly operation: Operation | undefined
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer | undefined
  /** The body as a value, if it is a JSON value. */
  readonly json: Record<string, unknown> | undefined
  /** The intended path parameters. */
  readonly path: Readonly<Record<string, string>>
}

interface Draft {
  method: string
  path: Record<string, string>
  query: [string, string][]
  headers: [string, string][]
  json: Record<string, unknown> | undefined
  body: Buffer | undefined
  encode: (text: string, name?: string) => string
}

/** Makes a request of an operation: valid, with one mutation, or hostile. */
export function makeRequest(source: Source, operation: Operation, temper: Temper, base: string): FuzzRequest {
  const draft = draftValid(source, operation)
  if (temper === 'mutated') mutate(source, operation, draft)
  if (temper === 'hostile') for (let i = 0; i < 3; i++) source.chance.pick(hostilities)(source, operation, draft)
  const { method, path, headers, json, query, encode } = draft
  const target = base + operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(path[name]!, name))
  const search = query.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&')
  const body = draft.body ?? (json && Buffer.from(toJson(json)))
  if (json && !headers.some(([name]) => name === 'Content-Type')) headers.push(['Content-Type', 'application/json'])
  return { temper, operation, method, target: search ? `${target}?${search}` : target, headers, body, json, path }
}

function draftValid(source: Source, operation: Operation): Draft {
  const draft: Draft = {
    method: operation.method,
    path: {},
    query: [],
    headers: [],
    json: operation.body && makeObject(source, operation.body, operation.path, 0.4),
    body: undefined,
    encode: encodePath(operation),
  }
  // Each field is sent once: in the body if possible.
  const inBody = new Set(Object.keys((operation.body?.properties ?? {}) as Schema))
  for (const { name, in: place, required, schema } of operation.parameters) {
    if (place !== 'path' && !required && (place === 'header' || inBody.has(name) || source.chance.hits(0.6))) continue
    const value = toText(makeValid(source, schema, name, operation.path))
    if (place === 'path') draft.path[name] = value
    else if (place === 'query') draft.query.push([name, value])
  }
  for (const [header, kind] of Object.entries({
    'X-Agent-Token': 'agentToken',
    'X-Case-Token': 'caseToken',
    'X-Share-Token': 'token',
  })) {
    const known = source.pool.of(kind)
    const isTaken = operation.parameters.some(({ name }) => name === header)
    if (isTaken && known.length > 0 && source.chance.hits(0.3)) draft.headers.push([header, source.chance.pick(known)])
  }
  return draft
}

/** `path` is the rest of the URL and keeps its slashes; every other parameter is one segment. */
function encodePath({ path }: Operation): Draft['encode'] {
  const isRest = path.endsWith('{path}')
  return (text, name) => (isRest && name === 'path' ? escape(text).replaceAll('%2F', '/') : escape(text))
}

/** Makes one field invalid: wrong type, missing, unknown, out of range, or duplicated. */
function mutate(source: Source, operation: Operation, draft: Draft): void {
  const { chance } = source
  const names = operation.parameters.filter(({ in: place }) => place !== 'header').map(({ name }) => name)
  if (draft.json && chance.hits(0.75)) return mutateJson(source, draft, operation.body!)
  if (names.length === 0) return void draft.query.push([chance.draw(hostileText), 'x'])
  const name = chance.pick(names)
  const value = name === 'wait' ? chance.pick(['-1', '31', '1e9', 'x', '0.5']) : chance.draw(hostileText)
  if (name in draft.path) draft.path[name] = value
  else if (chance.hits(0.8)) draft.query = [...draft.query.filter(([other]) => other !== name), [name, value]]
  else draft.query.push([name, '1'], [name, value])
}

function mutateJson({ chance }: Source, draft: Draft, schema: Schema): void {
  const json = draft.json!
  const name = chance.pick([...Object.keys(schema.properties as Schema), ...Object.keys(json)])
  switch (chance.below(6)) {
    case 0:
      delete json[name]
      return
    case 1:
      json[chance.draw(hostileText)] = chance.draw(hostileValue)
      return
    case 2: {
      const text = toJson({ ...json, [name]: null })
      draft.body = Buffer.from(
        text.replace(`${JSON.stringify(name)}:null`, () => `${JSON.stringify(name)}:${chance.draw(rawJson)}`),
      )
      return
    }
    case 3:
      draft.body = Buffer.from(
        `${toJson(json).slice(0, -1)}${Object.keys(json).length > 0 ? ',' : ''}"${name}":1,"${name}":2}`,
      )
      return
    default:
      Object.defineProperty(json, name, {
        value: chance.draw(hostileValue),
        enumerable: true,
        configurable: true,
        writable: true,
      })
  }
}

const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'QUERY', 'M-SEARCH', 'PURGE']

type Hostility = (source: Source, operation: Operation, draft: Draft) => void

const hostilities: readonly Hostility[] = [
  ({ chance }, _, draft) => void (draft.method = chance.pick(methods)),
  ({ chance }, _, draft) => void draft.headers.push([...chance.draw(oddHeaders)]),
  ({ chance }, _, draft) => void draft.headers.push([...chance.draw(oddHeaders)]),
  ({ chance }, _, draft) => void draft.headers.push(['Authorization', chance.draw(oddAuthorizations)]),
  ({ chance }, _, draft) => {
    for (const name of Object.keys(draft.path)) if (chance.hits(0.6)) draft.path[name] = chance.draw(hostileText)
  },
  ({ chance }, _, draft) => {
    for (let i = chance.below(40); i >= 0; i--) draft.query.push([chance.draw(hostileText), chance.draw(hostileText)])
  },
  ({ chance }, operation, draft) => {
    const name = operation.parameters.find(({ in: place, name: own }) => place === 'query' && own !== 'wait')?.name
    if (name) draft.query.push([name, chance.draw(hostileText)], [`${name}[]`, '1'], [`${name}[__proto__]`, '1'])
  },
  ({ chance }, _, draft) => {
    const types = [
      'text/plain',
      'application/zip',
      'application/gzip',
      'multipart/form-data; boundary=x',
      '',
      ';',
      'a/b',
    ]
    draft.headers.push([
      'Content-Type',
      chance.pick([...types, 'application/json; charset=utf-16', 'application/json ; x']),
    ])
  },
  ({ chance }, _, draft) => {
    const bodies: readonly (string | Uint8Array)[] = [
      '',
      '{',
      '[]',
      'null',
      '"',
      '{}',
      '{"a":1',
      '\ufeff{}',
      '0'.repeat(100_000),
    ]
    const broken = [
      new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
      new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]),
    ]
    draft.body = Buffer.from(chance.pick([...bodies, ...broken]) as string)
  },
  ({ chance }, _, draft) => {
    draft.encode = chance.pick<(text: string) => string>([
      (text) => escape(escape(text)),
      (text) => escape(text).toLowerCase(),
      (text) =>
        [...Buffer.from(text).subarray(0, 400)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
      () => '%',
      () => '%ff%fe',
      () => '%c0%ae%c0%ae%c0%af',
      () => '%00',
      () => '..;/..',
      () => '',
    ])
  },
]

/** Percent-encodes UTF-8. A lone surrogate has no UTF-8 form and is encoded as some programs do it. */
function escape(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : encodeURIComponent(text.toWellFormed()) + '%ed%a0%80'
}

function toText(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value)
}

function toJson(value: Record<string, unknown>): string {
  return JSON.stringify(value)
}
