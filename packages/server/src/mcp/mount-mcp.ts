import type { H3 } from 'h3'
import { localApi } from '@skillstead/core'
import type { RegistryApi } from '@skillstead/protocol'
import pLimit, { type LimitFunction } from 'p-limit'
import { toLimitKey } from '../addresses.ts'
import type { Call } from '../call.ts'
import { requireOwnOrigin } from '../cross-origin.ts'
import { toClientName } from '../engine.ts'
import { limitKeyOf, toHandler, type NodeParts } from '../gate.ts'
import { createInFlight, type CallInFlight, type InFlight, type InFlightLimits } from '../in-flight.ts'
import { reply, toRegistryError, type Answer, type Header } from '../replies.ts'
import { readClientName, readMessage, type RpcError } from './read-message.ts'

const mebibyte = 1024 * 1024
/** Each call is charged one request, regardless of its cost; these limits apply to concurrent calls. */
const limits: InFlightLimits = {
  callerCallsMax: 32,
  callsMax: 256,
  callerBytesMax: 64 * mebibyte,
  bytesMax: 256 * mebibyte,
  of: 'answers',
}
/** Building a response with a file of 10 MiB takes several times that size in memory. */
const largeMethods = new Set<unknown>(['resources/read', 'skills/list'])
const largeAtATime = 4
/** Larger responses are streamed, and count as in progress until the caller has read them. */
const wholeBytesMax = 65_536
/** Time limit of a call: otherwise callers that stop reading would block others. */
const takenMs = 120_000

/** Mounts `/mcp`: the Model Context Protocol over streamable HTTP, without sessions. */
export function mountMcp(app: H3, node: NodeParts): void {
  const parts = { inFlight: createInFlight(limits), inTurn: pLimit(largeAtATime) }
  const work = (call: Call) => answerCall(node, parts, call)
  app.all('/mcp', toHandler(node, { endpoint: 'mcp', admission: 'keyed', methods: ['POST'], crossOrigin: false, work }))
}

interface McpParts {
  readonly inFlight: InFlight
  readonly inTurn: LimitFunction
}

async function answerCall(node: NodeParts, { inFlight, inTurn }: McpParts, call: Call): Promise<Response> {
  requireOwnOrigin(node, call)
  const address = toLimitKey(node.addresses.clientOf(call.request))
  const running = inFlight.begin(limitKeyOf(node, call))
  try {
    const read = await readMessage(call)
    if ('error' in read) return replyRpcError(call, read.error, running)
    const { message } = read
    const api = toApi(node, call, address, readClientName(message))
    const work = () => answer(node, call, api, message)
    const answered = largeMethods.has(message.method) ? await inTurn(work) : await work()
    return replyBytes(call, answered, running)
  } catch (error) {
    running.end()
    throw error
  }
}

/** The registry API as this caller sees it. */
function toApi(node: NodeParts, call: Call, address: string, clientName: string | undefined): RegistryApi {
  const agentToken = call.header('x-agent-token') ?? undefined
  const client = call.header('x-skillstead-client')?.trim() || clientName || toClientName(call)
  return localApi(node.registry, call.caller, { address, agentToken, client })
}

function fail(node: NodeParts, call: Call, error: unknown): void {
  node.log.failure(call, toRegistryError(error))
}

/** The response of the MCP library, with the headers of this node. */
async function answer(
  node: NodeParts,
  call: Call,
  api: RegistryApi,
  message: Record<string, unknown>,
): Promise<WholeAnswer> {
  // Load the MCP library on first use: loading takes 0.1 s and 40 MB.
  const { answerMessage } = await import('./answer-message.ts')
  const response = await answerMessage(api, message, call.request, {
    registry: node.registry,
    caller: call.caller,
    onError: (error) => fail(node, call, error),
  })
  const headers = [...response.headers].filter(([name]) => name.startsWith('mcp-')) as Header[]
  const contentType = response.headers.get('content-type') ?? undefined
  return { status: response.status, contentType, headers, body: new Uint8Array(await response.arrayBuffer()) }
}

interface WholeAnswer extends Answer {
  readonly body: Uint8Array
}

function replyRpcError(call: Call, error: RpcError, running: CallInFlight): Response {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
  return replyBytes(call, { status: 400, contentType: 'application/json', body }, running)
}

function replyBytes(call: Call, answered: WholeAnswer, running: CallInFlight): Response {
  const { body } = answered
  if (body.byteLength > wholeBytesMax) {
    running.hold(body.byteLength)
    return reply(call, { ...answered, body: sendOnce(body, endInTime(call, running)) })
  }
  running.end()
  return reply(call, { ...answered, body: body.byteLength === 0 ? null : body })
}

/** Ends a call, at the latest after its time limit, which also closes its connection. */
function endInTime(call: Call, running: CallInFlight): () => void {
  const timer = setTimeout(() => call.request.runtime?.node?.req.socket?.destroy(), takenMs)
  timer.unref()
  return () => {
    clearTimeout(timer)
    running.end()
  }
}

/**
 * A stream of one chunk that reports when it was read or abandoned. A generator that was never started would not report
 * that.
 */
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
