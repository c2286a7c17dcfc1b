import { isSliceOver, nextSlice } from '@skillstead/core/internal'
import { createPacketReader, GitError, type Packet } from './pkt-line.ts'

/** The objects that a client wants and has. */
export interface FetchRequest {
  readonly wants: ReadonlySet<string>
  /** The objects that the client has, in the order of the request. */
  readonly haves: ReadonlySet<string>
  /** The shallow commits of the client, whose parents it lacks. */
  readonly shallow: ReadonlySet<string>
  /** Whether the client ended the negotiation with `done`. */
  readonly isDone: boolean
  readonly includeTag: boolean
  /** Whether the base of a delta may be an object that the client has but the pack lacks. */
  readonly isThin: boolean
  /** Whether the client reads deltas that name their base by its offset in the pack. */
  readonly readsOffsets: boolean
  /** Maximum number of commits from the wanted commits on, or with `isRelative` below the client's shallow commits. */
  readonly depth: number | undefined
  readonly isRelative: boolean
  /** Only commits from this time on, in seconds since 1970. */
  readonly sinceSeconds: number | undefined
  /** Only commits that these references do not lead to. */
  readonly without: readonly string[]
}

/** A request of version 0 or 1, with the capabilities that the client uses. */
export interface ClassicRequest extends FetchRequest {
  readonly capabilities: ReadonlySet<string>
  /** Whether the request continues after the wants. If not, the client asks only for the shallow commits. */
  readonly negotiates: boolean
}

/** A request of version 2. */
export type Command =
  | { readonly name: 'ls-refs'; readonly arguments: readonly string[] }
  | { readonly name: 'fetch'; readonly request: FetchRequest }
  /** An empty request. */
  | { readonly name: 'none' }

/** Limits on the number of objects and of references that one request may list. */
const objectsMax = 32_768
const refsMax = 1000

class RequestBuilder implements FetchRequest {
  readonly wants = new Set<string>()
  readonly haves = new Set<string>()
  readonly shallow = new Set<string>()
  readonly without: string[] = []
  isDone = false
  includeTag = false
  isThin = false
  readsOffsets = false
  isRelative = false
  depth: number | undefined
  sinceSeconds: number | undefined

  /** Adds an argument to the request. Returns false for an argument that no version of the protocol has. */
  take(line: string): boolean {
    const space = line.indexOf(' ')
    const name = space === -1 ? line : line.slice(0, space)
    const value = space === -1 ? undefined : line.slice(space + 1)
    switch (name) {
      case 'want':
        addId(this.wants, name, value)
        return true
      case 'have':
        addId(this.haves, name, value)
        return true
      case 'shallow':
        addId(this.shallow, name, value)
        return true
      case 'deepen':
        this.depth = readLineNumber(name, value, 1)
        return true
      case 'deepen-since':
        this.sinceSeconds = readLineNumber(name, value, 0)
        return true
      case 'deepen-not':
        if (!value || this.without.length >= refsMax) throw new GitError('The request has an invalid deepen-not line.')
        this.without.push(value)
        return true
      case 'done':
        this.isDone = true
        return true
      default:
        return false
    }
  }
}

/** Parses a request of version 0 or 1. Throws {@link GitError} if invalid, and the reason of an aborted signal. */
export async function parseClassicRequest(body: Uint8Array, signal: AbortSignal): Promise<ClassicRequest> {
  const reader = createPacketReader(body)
  const request = new RequestBuilder()
  let capabilities: ReadonlySet<string> | undefined
  for (let packet = reader.read(); packet.type !== 'flush'; packet = reader.read()) {
    if (isSliceOver()) await nextSlice(signal)
    let line = toPacketLine(packet)
    if (line.startsWith('want ') && capabilities === undefined) {
      capabilities = new Set(line.slice(wantLength).trim().split(' '))
      line = line.slice(0, wantLength)
    }
    const isKnown = /^(?:want|shallow|deepen|deepen-since|deepen-not) /.test(line) && request.take(line)
    if (!isKnown)
      throw new GitError(`The request has an unknown line before its first flush packet: ${quotePacket(line)}.`)
  }
  refuseFormat(capabilities ?? new Set())
  request.includeTag = capabilities?.has('include-tag') ?? false
  request.isRelative = capabilities?.has('deepen-relative') ?? false
  request.isThin = capabilities?.has('thin-pack') ?? false
  request.readsOffsets = capabilities?.has('ofs-delta') ?? false
  let negotiates = false
  for (let packet = reader.read(); packet.type !== 'end' && !request.isDone; packet = reader.read()) {
    if (isSliceOver()) await nextSlice(signal)
    negotiates = true
    if (packet.type === 'flush') continue
    const line = toPacketLine(packet)
    const isKnown = (line === 'done' || line.startsWith('have ')) && request.take(line)
    if (!isKnown) throw new GitError(`The request has an unknown line among its haves: ${quotePacket(line)}.`)
  }
  return Object.assign(request, { capabilities: capabilities ?? new Set<string>(), negotiates })
}

/** Parses a request of version 2. Throws {@link GitError} if invalid, and the reason of an aborted signal. */
export async function parseCommand(body: Uint8Array, signal: AbortSignal): Promise<Command> {
  const reader = createPacketReader(body)
  let packet = reader.read()
  if (packet.type === 'end' || packet.type === 'flush') return { name: 'none' }
  const keys: string[] = []
  for (; packet.type === 'line'; packet = reader.read()) {
    keys.push(packet.text)
    if (keys.length > refsMax) throw new GitError('The request has too many capabilities.')
  }
  refuseFormat(new Set(keys))
  const name = keys.find((key) => key.startsWith('command='))?.slice('command='.length)
  const lines: string[] = []
  if (packet.type === 'delimiter') {
    for (packet = reader.read(); packet.type === 'line'; packet = reader.read()) {
      if (isSliceOver()) await nextSlice(signal)
      lines.push(packet.text)
    }
  }
  if (packet.type !== 'flush') throw new GitError('The request does not end with a flush packet.')
  if (name === 'ls-refs') return { name, arguments: lines }
  if (name === 'fetch') return { name, request: await parseFetch(lines, signal) }
  throw new GitError(
    name === undefined ? 'The request has no command.' : `The command ${quotePacket(name)} is not supported.`,
  )
}

async function parseFetch(lines: readonly string[], signal: AbortSignal): Promise<FetchRequest> {
  const request = new RequestBuilder()
  for (const line of lines) {
    if (isSliceOver()) await nextSlice(signal)
    if (line === 'include-tag') request.includeTag = true
    else if (line === 'deepen-relative') request.isRelative = true
    else if (line === 'thin-pack') request.isThin = true
    else if (line === 'ofs-delta') request.readsOffsets = true
    // `no-progress` is ignored, because the node never sends progress.
    else if (line !== 'no-progress' && !request.take(line)) {
      throw new GitError(`The argument ${quotePacket(line)} of fetch is not supported.`)
    }
  }
  return request
}

const idLength = 40
const wantLength = 'want '.length + idLength

function addId(ids: Set<string>, name: string, value: string | undefined): void {
  if (value === undefined || !/^[0-9a-f]{40}$/.test(value)) {
    throw new GitError(`The request has a ${name} line without an object id: ${quotePacket(value ?? '')}.`)
  }
  ids.add(value)
  if (ids.size > objectsMax) throw new GitError(`The request has more than ${objectsMax} ${name} lines.`)
}

function readLineNumber(name: string, value: string | undefined, least: number): number {
  const number = /^\d{1,15}$/.test(value ?? '') ? Number(value) : -1
  if (number < least) throw new GitError(`The request has an invalid ${name} line: ${quotePacket(value ?? '')}.`)
  return number
}

function toPacketLine(packet: Packet): string {
  if (packet.type === 'line') return packet.text
  throw new GitError(packet.type === 'end' ? 'The request ends before a flush packet.' : 'Unexpected packet.')
}

function refuseFormat(capabilities: ReadonlySet<string>): void {
  for (const capability of capabilities) {
    if (capability.startsWith('object-format=') && capability !== 'object-format=sha1') {
      throw new GitError('This repository has the object format sha1. Request that one.')
    }
  }
}

/** Quotes text of a client in one line of an error message. */
function quotePacket(text: string): string {
  return JSON.stringify(text.slice(0, 80))
}
