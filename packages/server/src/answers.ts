import type { Content } from '@skillstead/protocol'
import { EncodedJson, type localCall } from '@skillstead/core'
import type { Call } from './call.ts'
import { toContentHeaders } from './content.ts'
import { toEtag } from './etags.ts'
import type { NodeParts } from './gate.ts'
import { withAddress } from './own-address.ts'
import type { Answer, Header } from './replies.ts'
import type { Route } from './routes.ts'

/** What an operation gave. */
export type Result = Awaited<ReturnType<typeof localCall>> & { readonly headers?: readonly Header[] }

const jsonType = 'application/json; charset=utf-8'

/** The result of an operation as what goes over the wire. */
export function toAnswer(node: NodeParts, call: Call, route: Route, { status, body, headers }: Result): Answer {
  if (status === 204 || body === undefined) return { status: 204, body: null, headers }
  const reads = call.method === 'GET' || call.method === 'HEAD'
  // What guests see may be kept, and is asked for again each time; what a key or a token opens may not be kept at all.
  const cacheControl = reads && !call.personal && !route.endpoint.volatile ? 'no-cache' : 'private, no-store'
  const toBytes = (json: Uint8Array) => withAddress(json, call, node.addressOf)
  if (body instanceof EncodedJson)
    return { status, cacheControl, body: toBytes(body.bytes), etag: body.etag, contentType: jsonType }
  if (route.endpoint.kind !== 'content') {
    const etag = reads && route.toTagged ? toEtag(toJson(route.toTagged(body as never))) : undefined
    return { status, cacheControl, headers, body: toBytes(toJson(body)), etag, contentType: jsonType }
  }
  const content = body as Content
  // What is for everybody says itself how long it may be kept.
  const kept = cacheControl === 'no-cache' ? (content.cacheControl ?? cacheControl) : cacheControl
  return { status, cacheControl: kept, body: content.body, ...toContentHeaders(content) }
}

function toJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}
