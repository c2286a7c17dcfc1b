import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeRequest } from 'srvx/node'
import { guest } from '@skillstead/core'
import { EncodedJson, findCachedSkill } from '@skillstead/core/internal'
import { toAnswer } from './answers.ts'
import { Call } from './call.ts'
import { toWork } from './engine.ts'
import { finish, replyThrown, spendOne, type NodeParts } from './gate.ts'
import { sendResponse, textBytesMax, toLatin1 } from './node-listener.ts'
import { cacheHeaders, commonHeaders, contentHeaders, isKnownToCaller } from './replies.ts'
import { detailRoute, matchDetail, tokenNames } from './routes.ts'

/** Headers on which an answer depends: a credential, a page of another site. */
const telling = ['authorization', 'cookie', 'origin', ...tokenNames] as const

/** The targets whose skills are known; only those of cached skills are. */
const namesMax = 20_000

/** An answer that is sent again and again. */
interface Prepared {
  /** The address of the node, which is in its links. */
  readonly address: string
  /** The headers that the content alone decides, names and values in turn: of the answer, and of 304. */
  readonly headers: readonly string[]
  readonly headersOf304: readonly string[]
  /** The body, each byte as one character. */
  readonly text: string
}

/** Serves a request and returns true; returns false, having done nothing, if it does not apply. Never throws. */
export type ServeCached = (req: IncomingMessage, res: ServerResponse) => boolean

/**
 * Serves the cached details of a skill to a guest, which is most of a node's requests, exactly as the endpoint does, but
 * without its router, promises and Response.
 */
export function createServeCached(node: NodeParts): ServeCached {
  const names = new Map<string, string>()
  const prepared = new WeakMap<EncodedJson, Prepared>()
  const work = toWork(node, detailRoute)

  function find(target: string): EncodedJson | undefined {
    const known = names.get(target)
    const segment = known ?? matchDetail(target)?.['name']
    if (segment === undefined) return undefined
    const name = known ?? decodeURIComponent(segment)
    const entity = findCachedSkill(node.registry, name, guest)
    if (entity === undefined || known !== undefined) return entity
    if (names.size >= namesMax) names.clear()
    names.set(target, name)
    return entity
  }

  /** The endpoint reports what fails, such as a closed registry. */
  function tryFind(target: string): EncodedJson | undefined {
    try {
      return find(target)
    } catch {
      return undefined
    }
  }

  function prepare(call: Call, entity: EncodedJson): Prepared {
    const address = node.addressOf(call)
    const last = prepared.get(entity)
    if (last?.address === address) return last
    // A copy, so that the bytes are not kept as well as the text.
    const body = new EncodedJson(entity.json, entity.etag)
    const answer = toAnswer(node, call, detailRoute, { status: 200, body })
    const headers = contentHeaders(answer, entity.etag).flat()
    const headersOf304 = cacheHeaders(answer, entity.etag).flat()
    const made = { address, headers, headersOf304, text: toLatin1(answer.body as Uint8Array) }
    prepared.set(entity, made)
    return made
  }

  function send(call: Call, res: ServerResponse, entity: EncodedJson): void {
    const { headers, headersOf304, text } = prepare(call, entity)
    const head: string[] = []
    for (const [name, value] of commonHeaders(call)) head.push(name, value)
    const status = isKnownToCaller(call, entity.etag) ? 304 : 200
    node.context.traffic.calls += 1
    if (!tryFinish(call, res, status)) return
    res.writeHead(status, head.concat(status === 304 ? headersOf304 : headers))
    if (status === 304) res.end()
    else res.end(text, 'latin1')
  }

  /** What was found before the allowance was spent may have changed meanwhile. */
  async function sendAdmitted(call: Call, res: ServerResponse, target: string): Promise<void> {
    const entity = find(target)
    if (entity !== undefined) return send(call, res, entity)
    call.params = matchDetail(target)
    await reply(call, res, await work(call))
  }

  async function refuse(call: Call, res: ServerResponse, thrown: unknown): Promise<void> {
    await reply(call, res, await replyThrown(node, call, thrown))
  }

  async function reply(call: Call, res: ServerResponse, response: Response): Promise<void> {
    if (tryFinish(call, res, response.status))
      await sendResponse(res, response).catch((error: Error) => res.destroy(error))
  }

  /** A log that fails ends the connection, as it does behind the router. */
  function tryFinish(call: Call, res: ServerResponse, status: number): boolean {
    try {
      finish(node, call, status)
      return true
    } catch (error) {
      res.destroy(error as Error)
      return false
    }
  }

  return function serveCached(req, res) {
    if (req.method !== 'GET' || node.draining || node.requireKey) return false
    for (const name of telling) if (req.headers[name] !== undefined) return false
    const target = req.url!
    const entity = tryFind(target)
    // The endpoint sends long texts, in a second write.
    if (entity === undefined || entity.json.length > textBytesMax) return false
    const call = new Call(new NodeRequest({ req, res }))
    call.endpoint = detailRoute.name
    if (node.publicOrigin !== undefined) call.allowedOrigin = '*'
    const fail = (thrown: unknown) => refuse(call, res, thrown).catch((error: Error) => res.destroy(error))
    node.metrics.begin()
    try {
      const spending = spendOne(node, call)
      if (spending === undefined) send(call, res, entity)
      else void spending.then(() => sendAdmitted(call, res, target)).catch(fail)
    } catch (thrown) {
      void fail(thrown)
    }
    return true
  }
}
