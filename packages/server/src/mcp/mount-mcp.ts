import type { H3 } from 'h3'
import { localApi } from '@skillstead/core'
import type { RegistryApi } from '@skillstead/protocol'
import { toLimitKey } from '../addresses.ts'
import { callOf, type Call } from '../call.ts'
import { refuseMethod, toClientName } from '../engine.ts'
import { handle, type NodeParts } from '../gate.ts'
import { reply, toRegistryError, type Answer, type Header } from '../replies.ts'
import { createInFlight, type InFlight } from './in-flight.ts'
import { requireOwnOrigin } from './own-origin.ts'
import { readClientName, readMessage, type RpcError } from './read-message.ts'

/** Calls here spend nothing (contract, Conventions), so what bounds them is how many go on at a time. */
const callsInFlight = { callerMax: 32, max: 256 }
/** Larger answers go out as fast as the caller takes them, and are under way until then. */
const wholeBytesMax = 65_536

/** Mounts `/mcp`: the Model Context Protocol over streamable HTTP, without sessions. */
export function mountMcp(app: H3, node: NodeParts): void {
  const inFlight = createInFlight(callsInFlight)
  app.all('/mcp', (event) => {
    const call = callOf(event)
    call.endpoint = 'mcp'
    call.crossOrigin = false
    const isMessage = call.method === 'POST'
    return handle(node, call, 'keyed', () =>
      isMessage ? answerCall(node, inFlight, call) : refuseMethod(call, ['POST']),
    )
  })
}

async function answerCall(node: NodeParts, inFlight: InFlight, call: Call): Promise<Response> {
  requireOwnOrigin(node, call)
  const address = toLimitKey(node.addresses.clientOf(call.request))
  const end = inFlight.begin(call.caller.kind === 'user' ? call.caller.userId : address)
  try {
    const read = await readMessage(call)
    if ('error' in read) return replyRpcError(call, read.error, end)
    const api = toApi(node, call, address, readClientName(read.message))
    // The protocol's library takes a tenth of a second and 40 MB to load, which is nothing to a node that is never asked.
    const { answerMessage } = await import('./answer-message.ts')
    const response = await answerMessage(api, read.message, call.request, (error) => fail(node, call, error))
    return await replyResponse(call, response, end)
  } catch (error) {
    end()
    throw error
  }
}

/** The registry as this caller sees it. */
function toApi(node: NodeParts, call: Call, address: string, clientName: string | undefined): RegistryApi {
  const agentToken = call.header('x-agent-token') ?? undefined
  const client = call.header('x-skillstead-client')?.trim() || clientName || toClientName(call)
  return localApi(node.registry, call.caller, { address, agentToken, client })
}

function fail(node: NodeParts, call: Call, error: unknown): void {
  node.log.failure(call, toRegistryError(error))
}

/** The library's answer with the headers that every answer of a node has. Its own are made from what is known here. */
async function replyResponse(call: Call, response: Response, end: () => void): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  const headers = [...response.headers].filter(([name]) => name.startsWith('mcp-')) as Header[]
  const contentType = response.headers.get('content-type') ?? undefined
  return replyBytes(call, { status: response.status, contentType, headers }, bytes, end)
}

function replyRpcError(call: Call, error: RpcError, end: () => void): Response {
  const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
  return replyBytes(call, { status: 400, contentType: 'application/json' }, bytes, end)
}

function replyBytes(call: Call, answer: Omit<Answer, 'body'>, bytes: Uint8Array, end: () => void): Response {
  if (bytes.byteLength > wholeBytesMax) return reply(call, { ...answer, body: sendOnce(bytes, end) })
  end()
  return reply(call, { ...answer, body: bytes.byteLength === 0 ? null : bytes })
}

/** A stream of one piece that says when it was taken, or will not be. A generator that nobody began would not. */
function sendOnce(bytes: Uint8Array, end: () => void): AsyncIterable<Uint8Array> {
  let isSent = false
  const over = (): IteratorResult<Uint8Array> => {
    end()
    return { done: true, value: undefined }
  }
  const next = (): IteratorResult<Uint8Array> => {
    if (isSent) return over()
    isSent = true
    return { done: false, value: bytes }
  }
  return {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(next()), return: () => Promise.resolve(over()) }),
  }
}
