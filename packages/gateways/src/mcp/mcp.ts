import { createInFlight, type CallInFlight, type InFlight, type InFlightLimits } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import pLimit, { type LimitFunction } from 'p-limit'
import type { Answer, GatewayCall, GatewayHost, GatewayRoute } from '../gateway.ts'
import { readClientName, readMessage, type RpcError } from './read-message.ts'

const mebibyte = 1024 * 1024
/** Limits of concurrent calls, because each call is charged as one request, whatever it costs. */
const limits: InFlightLimits = {
  callerCallsMax: 32,
  callsMax: 256,
  callerBytesMax: 64 * mebibyte,
  bytesMax: 256 * mebibyte,
  of: 'answers',
}
/** Methods whose response may be large: one with a file of 10 MiB takes several times that size in memory to build. */
const largeMethods = new Set<unknown>(['resources/read', 'skills/list'])
const largeAtATime = 4
/** Responses above this size are streamed, and count as in progress until the caller has read them. */
const wholeBytesMax = 65_536
/** Time limit of a call: without it, callers that stop reading would block other callers. */
const takenMs = 120_000

/** The route `/mcp`: the Model Context Protocol over streamable HTTP, without sessions. */
export function mcp(host: GatewayHost): GatewayRoute[] {
  const parts = { inFlight: createInFlight(limits), inTurn: pLimit(largeAtATime) }
  return [
    {
      pattern: '/mcp',
      endpoint: 'mcp',
      methods: ['POST'],
      admission: 'keyed',
      // Servers must validate `Origin` (MCP, Transports).
      origins: 'own',
      answer: (call) => answerCall(host, parts, call),
    },
  ]
}

interface McpParts {
  readonly inFlight: InFlight
  readonly inTurn: LimitFunction
}

async function answerCall(host: GatewayHost, { inFlight, inTurn }: McpParts, call: GatewayCall): Promise<Answer> {
  const running = inFlight.begin(host.limitKeyOf(call))
  try {
    const read = await readMessage(host, call)
    if ('error' in read) return toMcpAnswer(host, call, toRpcAnswer(read.error), running)
    const { message } = read
    const api = host.api(call, readClientName(message))
    const work = () => answerMcpRequest(host, call, api, message)
    const answered = largeMethods.has(message.method) ? await inTurn(work) : await work()
    return toMcpAnswer(host, call, answered, running)
  } catch (error) {
    running.end()
    throw error
  }
}

/** The response of the MCP library, with only those headers that belong to MCP. */
async function answerMcpRequest(
  host: GatewayHost,
  call: GatewayCall,
  api: RegistryApi,
  message: Record<string, unknown>,
): Promise<WholeAnswer> {
  // Load the MCP library on first use: loading takes 0.1 s and 40 MB.
  const { answerMessage } = await import('./answer-message.ts')
  const { response, body } = await answerMessage(api, message, call.request, {
    registry: host.registry,
    caller: call.caller,
    onError: (error) => host.failed(call, error),
  })
  const headers = [...response.headers].filter(([name]) => name.startsWith('mcp-'))
  const contentType = response.headers.get('content-type') ?? undefined
  return { status: response.status, contentType, headers, body }
}

interface WholeAnswer extends Answer {
  readonly body: Uint8Array
}

function toRpcAnswer(error: RpcError): WholeAnswer {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
  return { status: 400, contentType: 'application/json', body }
}

function toMcpAnswer(host: GatewayHost, call: GatewayCall, answered: WholeAnswer, running: CallInFlight): Answer {
  const { body } = answered
  if (body.byteLength > wholeBytesMax) {
    running.hold(body.byteLength)
    return { ...answered, body: sendOnce(body, endInTime(host, call, running)) }
  }
  running.end()
  return { ...answered, body: body.byteLength === 0 ? null : body }
}

/** Returns a function that ends a streamed call. After the time limit, the connection is closed instead. */
function endInTime(host: GatewayHost, call: GatewayCall, running: CallInFlight): () => void {
  const timer = setTimeout(() => host.hangUp(call), takenMs)
  timer.unref()
  return () => {
    clearTimeout(timer)
    running.end()
  }
}

/**
 * A stream of one chunk that calls `end` when the chunk was read or the stream abandoned. Not a generator, because a
 * generator that was never started would not call it.
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
