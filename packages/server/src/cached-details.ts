import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeRequest } from 'srvx/node'
import { guest } from '@skillstead/core'
import { findCachedSkill, type EncodedJson } from '@skillstead/core/internal'
import { toAnswer } from './answers.ts'
import { Call } from './call.ts'
import type { NodeParts } from './gate.ts'
import type { Quota } from './quotas.ts'
import { cacheHeaders, commonHeaders, contentHeaders, isKnownToCaller } from './replies.ts'
import { detailRoute, matchDetail, tokenNames } from './routes.ts'

/** Headers on which an answer depends: a credential, a page of another site. */
const telling = ['authorization', 'cookie', 'origin', ...tokenNames] as const

/** The targets whose skills are known; only those of cached skills are. */
const namesMax = 20_000
/** A longer text is sent by the endpoint, in a second write. */
const textBytesMax = 16 * 1024

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

/**
 * Serves a request and returns true; returns false, having done nothing, if it does not apply. `otherwise` serves it if a
 * limit refuses it.
 */
export type ServeCached = (req: IncomingMessage, res: ServerResponse, otherwise: () => void) => boolean

/**
 * Serves the cached details of a skill to a guest, which is most of a node's requests, exactly as the endpoint does, but
 * without its router, promises and Response.
 */
export function createServeCached(node: NodeParts): ServeCached {
  const names = new Map<string, string>()
  const prepared = new WeakMap<EncodedJson, Prepared>()

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
    const answer = toAnswer(node, call, detailRoute, { status: 200, body: entity })
    const headers = contentHeaders(answer, entity.etag).flat()
    const headersOf304 = cacheHeaders(answer, entity.etag).flat()
    // In this encoding each byte is one character.
    const bytes = answer.body as Uint8Array
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    const made = { address, headers, headersOf304, text }
    prepared.set(entity, made)
    return made
  }

  function send(call: Call, res: ServerResponse, entity: EncodedJson, quota: Quota): void {
    call.quota = quota
    const { headers, headersOf304, text } = prepare(call, entity)
    const head: string[] = []
    for (const [name, value] of commonHeaders(call)) head.push(name, value)
    const status = isKnownToCaller(call, entity.etag) ? 304 : 200
    node.metrics.begin()
    res.writeHead(status, head.concat(status === 304 ? headersOf304 : headers))
    if (status === 304) res.end()
    else res.end(text, 'latin1')
    node.metrics.end(call, status)
    node.log.answered(call, status)
  }

  return function serveCached(req, res, otherwise) {
    if (req.method !== 'GET' || node.draining || node.requireKey) return false
    const { headers } = req
    for (const name of telling) if (headers[name] !== undefined) return false
    const entity = tryFind(req.url!)
    if (entity === undefined || entity.json.length > textBytesMax) return false
    const call = new Call(new NodeRequest({ req, res }))
    call.endpoint = detailRoute.name
    if (node.publicOrigin !== undefined) call.allowedOrigin = '*'
    const quota = node.quotas.spend(guest, () => node.addresses.clientOf(call.request))
    if (!(quota instanceof Promise)) send(call, res, entity, quota)
    else
      quota
        .then((spent) => (spent.exceeded ? otherwise() : send(call, res, entity, spent)))
        .catch((error: Error) => res.destroy(error))
    return true
  }
}
