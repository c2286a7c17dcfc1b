import { Ajv2020 } from 'ajv/dist/2020.js'
import { endpoints, errorTable, toProblemType, type Endpoint, type Problem } from '@skillstead/protocol'
import * as v from 'valibot'
import type { RawAnswer } from '../support/raw-connection.ts'
import { toStrictSchema } from '../support/strict-schema.ts'
import type { Operation, Schema } from './operations.ts'
import type { FuzzRequest } from './requests.ts'
import type { Actor, World } from './world.ts'

/** Checks responses against the OpenAPI document, and for data that no response may reveal. */
export interface Judge {
  /** Returns one sentence per violation. */
  judge(request: FuzzRequest, answer: RawAnswer, actor: Actor): string[]
}

const everywhere = [
  'x-request-id',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
  'x-content-type-options',
]
/** Internals that a response must not reveal: stack traces, SQL statements, database errors, file paths. */
const leaks: readonly RegExp[] = [
  /\bat (?:async )?[\w.<>$ ]{1,80}\(?(?:file:|node:|\/)[^\s"]{1,200}:\d+/,
  /[\w-]\.[cm]?[jt]s:\d+:\d+/,
  /node_modules|kysely|better-sqlite3/i,
  /SQLITE_|SqliteError|fts5:|no such (?:table|column)|syntax error at or near|invalid byte sequence|unsupported Unicode/,
  /violates (?:unique|foreign|check|not-null)|duplicate key value|constraint failed/,
  /\bselect .{1,80} from "|\binsert into "/i,
]
/** The documented 5xx codes: not implemented, offline, and failed upstream requests. */
const documented: ReadonlySet<string> = new Set(['not_implemented', 'offline', 'upstream_failed', 'upstream_timeout'])

export function createJudge(world: World, places: readonly string[]): Judge {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const validators = new Map<Schema, ReturnType<typeof ajv.compile>>()
  const strict = new Map<string, ReturnType<typeof toStrictSchema>>()

  function violations(schema: Schema, value: unknown): string | undefined {
    const validate = validators.get(schema) ?? ajv.compile(schema)
    validators.set(schema, validate)
    return validate(value) ? undefined : ajv.errorsText(validate.errors)
  }

  function strictOf({ id }: Operation) {
    const schema = strict.get(id) ?? toStrictSchema((endpoints as Record<string, Endpoint>)[id]!.output)
    strict.set(id, schema)
    return schema
  }

  function* judgeGood(request: FuzzRequest, answer: RawAnswer, operation: Operation): Generator<string> {
    if (!operation.statuses.includes(answer.status)) yield `answers ${answer.status}, which is not documented`
    const isJson = answer.headers['content-type']?.startsWith('application/json') ?? false
    if (isJson && operation.output && answer.status < 300) {
      const value: unknown = JSON.parse(answer.body.toString())
      const wrong = violations(operation.output, value)
      if (wrong) yield `answers what its schema does not allow: ${wrong}`
      const { success, issues } = v.safeParse(strictOf(operation), value)
      if (!success)
        yield `answers with ${issues.map((issue) => v.getDotPath(issue)).join(', ')} undeclared or malformed`
    }
    const isAsSaid = request.json && request.body?.equals(Buffer.from(JSON.stringify(request.json)))
    if (isAsSaid && operation.body && answer.status < 300 && request.temper === 'mutated') {
      const wrong = violations(operation.body, JSON.parse(request.body!.toString()))
      if (wrong) yield `takes what its schema does not allow: ${wrong}`
    }
  }

  function* judgeSecrets(request: FuzzRequest, answer: RawAnswer, actor: Actor): Generator<string> {
    const { operation } = request
    const text = `${JSON.stringify(answer.headers)}\n${answer.body.toString()}`
    for (const pattern of leaks) if (pattern.test(text)) yield `reveals internals: ${pattern.exec(text)![0]}`
    for (const secret of world.secrets) if (text.includes(secret)) yield `reveals a secret: ${secret.slice(0, 8)}...`
    if (actor === 'root') return
    for (const place of places) if (text.includes(place)) yield 'reveals a path of the machine'
    const sent = `${unescape(request.target)} ${request.body?.toString() ?? ''}`
    for (const word of world.canaries()) {
      if (!sent.includes(word) && inAnyForm(word).some((form) => text.includes(form))) yield 'reveals hidden content'
    }
    for (const name of world.hiddenNames()) {
      if (text.includes(name) && !sent.includes(name.split('/').at(-1)!)) yield `names ${name}`
    }
    const { name } = request.path
    const isRead = request.method === 'GET' && operation !== undefined && reaches(request, operation)
    if (isRead && answer.status < 300 && name !== undefined && world.hiddenNames().includes(name)) yield `opens ${name}`
  }

  return {
    judge(request, answer, actor) {
      const { operation } = request
      const isOwn = operation !== undefined && request.method === operation.method && reaches(request, operation)
      return [
        ...judgeForm(request, answer),
        ...(isOwn && answer.status < 400 ? judgeGood(request, answer, operation) : []),
        ...judgeSecrets(request, answer, actor),
      ]
    },
  }
}

/** Whether the target still reaches the operation. Dot segments and empty segments lead to another path. */
function reaches({ target }: FuzzRequest, { path }: Operation): boolean {
  const sent = target.split('?')[0]!
  if (new URL(sent, 'http://fuzz.example').pathname !== sent) return false
  const isRest = path.endsWith('{path}')
  const segments = sent.split('/')
  return !segments.slice(1).includes('') && (isRest || segments.length === path.split('/').length + baseSegments)
}

/** The addresses of gateways whose clients expect another form of errors than problem documents. */
const ownErrors = /^\/(?:clawhub|npm|git|v2)(?:[/?]|$)|^\/api\/cli\/device\/|^\/\.well-known\/clawd?hub\.json/

/** `/api/v1` */
const baseSegments = 2

function* judgeForm(request: FuzzRequest, { status, headers, body }: RawAnswer): Generator<string> {
  for (const name of everywhere) if (!headers[name]) yield `answers ${status} without ${name}`
  if ('x-injected' in headers) yield 'lets a header be injected'
  if (status < 400 || request.method === 'HEAD') {
    if (status >= 500) yield `answers HEAD with ${status}`
    return
  }
  if (status === 401 && !headers['www-authenticate']) yield 'answers 401 and does not say how to sign in'
  if (status === 405 && !headers.allow) yield 'answers 405 and does not say what is allowed'
  // Errors of other protocols have their form; the status of a failure of the node is none of them.
  if (ownErrors.test(request.target) && headers['content-type'] !== 'text/html; charset=utf-8') {
    if (status >= 500 && status !== 501) yield `answers ${status}`
    return
  }
  // MCP errors are JSON-RPC responses.
  if (request.target.startsWith('/mcp') && headers['content-type'] === 'application/json') return
  if (headers['content-type'] !== 'application/problem+json') return void (yield `answers ${status} and no problem`)
  const problem = JSON.parse(body.toString()) as Problem
  if (problem.status !== status || problem.type !== toProblemType(problem.code)) yield `returns an inconsistent problem`
  const isParsers = status === 408 || status === 431
  if (!isParsers && errorTable[problem.code]?.status !== status) yield `answers ${problem.code} with ${status}`
  if (problem.requestId !== headers['x-request-id']) yield 'answers a problem of another request'
  if (status >= 500 && !documented.has(problem.code)) yield `answers ${status} ${problem.code}`
}

/** A word as plain text, as hex, and as base64 at each of the three possible offsets. */
function inAnyForm(word: string): string[] {
  const encoded = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), Buffer.from(word)]).toString('base64')
    return text.slice(shift === 0 ? 0 : shift + 1, -4)
  })
  return [word, Buffer.from(word).toString('hex'), ...encoded]
}

/** Decodes percent escapes, also invalid UTF-8: an error response may contain a name that the request sent. */
function unescape(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString())
}
