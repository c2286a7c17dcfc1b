import type { Content } from '@skillstead/protocol'
import { type AnyReply, EncodedJson } from '@skillstead/core/internal'
import type { Answer, Header } from '@skillstead/gateways'
import type { Call } from '../context/call.ts'
import { toContentHeaders } from '../replies/content.ts'
import { toEtag } from '../replies/etags.ts'
import type { NodeParts } from '../context/node-parts.ts'
import { encodeJson, jsonType } from '../replies/encode-json.ts'
import type { Route } from './routes.ts'

/** The result of an operation. */
export type Result = AnyReply & { readonly headers?: readonly Header[] }

/** Converts the result of an operation to a response. */
export function toEndpointAnswer(node: NodeParts, call: Call, route: Route, { status, body, headers }: Result): Answer {
  if (status === 204 || body === undefined) return { status: 204, body: null, headers }
  const reads = call.method === 'GET' || call.method === 'HEAD'
  // Responses for guests may be cached but must be revalidated; responses to a key or token must not be stored.
  const cacheControl = reads && !call.personal && !route.endpoint.volatile ? 'no-cache' : 'private, no-store'
  const toBytes = (json: string) => encodeJson(json, node.addressOf(call))
  if (body instanceof EncodedJson)
    return { status, cacheControl, body: toBytes(body.json), etag: body.etag, contentType: jsonType }
  if (route.endpoint.kind !== 'content') {
    const etag =
      reads && route.toTagged ? toEtag(Buffer.from(JSON.stringify(route.toTagged(body as never)))) : undefined
    return { status, cacheControl, headers, body: toBytes(JSON.stringify(body)), etag, contentType: jsonType }
  }
  const content = body as Content
  // Public content may have its own `Cache-Control`.
  const kept = cacheControl === 'no-cache' ? (content.cacheControl ?? cacheControl) : cacheControl
  return { status, cacheControl: kept, body: content.body, ...toContentHeaders(content) }
}
