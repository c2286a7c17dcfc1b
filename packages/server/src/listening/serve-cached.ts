import type { ServerResponse } from 'node:http'
import type { EncodedJson, PreparedResponse } from '@skillstead/core/internal'
import { spendOne } from '../admission/admit.ts'
import { finishCall, replyThrown } from '../admission/handler.ts'
import type { Call } from '../context/call.ts'
import type { NodeParts } from '../context/node-parts.ts'
import { joinWithAddress, jsonType, splitAtAddress } from '../replies/encode-json.ts'
import { cacheHeaders, commonHeaders, contentHeaders, isKnownToCaller } from '../replies/replies.ts'
import { sendResponse, type Serve } from './node-listener.ts'

/** Headers that bypass the cache: the response or its cost depends on a credential, another site, a dashboard page. */
const telling = [
  'authorization',
  'cookie',
  'origin',
  'x-agent-token',
  'x-case-token',
  'x-share-token',
  'x-skillstead-page',
] as const
/** Matches targets without a query, and without escapes that would give one resource many keys. */
const keyPattern = /^[\w/-]+(?:%2[Ff][\w-]+)?$/

/**
 * Serves cached public responses to guests, which are most of a node's responses, exactly as `next` does, but without
 * the router, promises and Response of `next`, which would cost a fifth of the throughput. The key of a response is the
 * target of the request. The first request for a target goes to `next`, whose operation caches the response under this
 * key. Only the operation `getSkill` does this.
 */
export function serveCached(node: NodeParts, next: Serve): Serve {
  const { answers, closing, traffic, upstreams } = node.context

  function send(call: Call, res: ServerResponse, cached: EncodedJson): void {
    const { headers, headersOf304, parts } = prepareResponse(cached)
    const head: string[] = []
    for (const [name, value] of commonHeaders(call)) head.push(name, value)
    const status = isKnownToCaller(call, cached.etag) ? 304 : 200
    traffic.calls += 1
    finishCall(node, call, status)
    if (status === 304) {
      res.writeHead(status, head.concat(headersOf304)).end()
      return
    }
    const body = joinWithAddress(parts, node.addressOf(call))
    head.push('content-length', `${body.length}`)
    res.writeHead(status, head.concat(headers)).end(body, 'latin1')
  }

  async function sendCharged(call: Call, res: ServerResponse, cached: EncodedJson, charged: Promise<void>) {
    try {
      await charged
    } catch (thrown) {
      const response = await replyThrown(node, call, thrown)
      finishCall(node, call, response.status)
      return sendResponse(res, response)
    }
    // The skill may have changed while the request was charged.
    return cached.isCached ? send(call, res, cached) : next(call, res)
  }

  return function serve(call, res) {
    const { headers, method, url: target = '' } = res.req
    const isOpen = !node.draining && !node.requireKey && !closing.aborted && upstreams.port === undefined
    if (!isOpen || method !== 'GET') return next(call, res)
    for (const name of telling) if (headers[name] !== undefined) return next(call, res)
    const cached = answers.get(target)
    if (cached === undefined) {
      if (keyPattern.test(target)) call.cacheKey = target
      return next(call, res)
    }
    call.endpoint = 'getSkill'
    if (node.publicOrigin !== undefined) call.allowedOrigin = '*'
    const charged = spendOne(node, call)
    if (charged === undefined) send(call, res, cached)
    else sendCharged(call, res, cached, charged).catch((error: Error) => res.destroy(error))
  }
}

function prepareResponse(cached: EncodedJson): PreparedResponse {
  if (cached.prepared) return cached.prepared
  const answer = { status: 200, cacheControl: 'no-cache', contentType: jsonType, body: null }
  const headers = contentHeaders(answer, cached.etag).flat()
  const headersOf304 = cacheHeaders(answer, cached.etag).flat()
  return cached.prepare({ headers, headersOf304, parts: splitAtAddress(cached.json) })
}
