import type { ProtocolVersion } from './advertisement.ts'
import { bandBytesMax, delimiterPacket, flushPacket, toPacket } from './pkt-line.ts'
import { findCommit, findHead, mainRef, type Repository } from './repository.ts'
import { findCommon, isDeepening, isEnough, selectCommits, type Selection } from './select-commits.ts'
import { type ClassicRequest, type FetchRequest, parseClassicRequest, parseCommand } from './upload-request.ts'

/** The response to `POST git-upload-pack`. */
export interface UploadResponse {
  /** The packets before the pack. */
  readonly head: Buffer
  /** What the pack contains; undefined if the response ends after `head`. */
  readonly selection?: Selection
  /** The maximum number of bytes of the pack per packet; undefined if the pack is sent without packets. */
  readonly bandBytesMax?: number
}

/**
 * Answers a request for a pack or, in version 2, for the references. Throws `GitError` for an invalid request, and the
 * reason of the signal if the client is gone.
 */
export async function answerUpload(
  repository: Repository,
  version: ProtocolVersion,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<UploadResponse> {
  if (version !== 2) return answerClassic(repository, await parseClassicRequest(body, signal))
  const command = await parseCommand(body, signal)
  switch (command.name) {
    case 'none':
      return { head: Buffer.alloc(0) }
    case 'ls-refs':
      return { head: listRefs(repository, command.arguments) }
    case 'fetch':
      return answerFetch(repository, command.request)
  }
}

/**
 * Maximum number of prefixes in `ls-refs`. Above it, all references are listed, as git does, because each prefix is
 * compared with each reference.
 */
const prefixesMax = 64

/** Answers `ls-refs` of version 2. Unknown arguments are ignored. */
function listRefs(repository: Repository, options: readonly string[]): Buffer {
  const wanted = new Set(options.filter((line) => line.startsWith('ref-prefix ')).map((line) => line.slice(11)))
  const prefixes = wanted.size > prefixesMax ? [] : [...wanted]
  const head = findHead(repository)
  const lines: string[] = []
  const matches = (name: string) => prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix))
  const symref = options.includes('symrefs') ? ` symref-target:${mainRef}` : ''
  if (matches('HEAD')) {
    if (head !== undefined) lines.push(`${head} HEAD${symref}`)
    else if (options.includes('unborn')) lines.push(`unborn HEAD${symref}`)
  }
  for (const { name, id, peeled } of repository.refs) {
    if (!matches(name)) continue
    lines.push(peeled !== undefined && options.includes('peel') ? `${id} ${name} peeled:${peeled}` : `${id} ${name}`)
  }
  return Buffer.concat([...lines.map((line) => toPacket(`${line}\n`)), flushPacket])
}

/** Answers `fetch` of version 2 with the sections of the response. */
function answerFetch(repository: Repository, request: FetchRequest): UploadResponse {
  if (request.wants.size === 0) return { head: Buffer.alloc(0) }
  const selection = selectCommits(repository, request)
  const parts: Buffer[] = []
  if (!request.isDone && request.haves.size > 0) {
    const common = findCommon(repository, request)
    const isReady = isEnough(repository, request, common)
    parts.push(toPacket('acknowledgments\n'))
    if (common.length === 0) parts.push(toPacket('NAK\n'))
    for (const id of common) parts.push(toPacket(`ACK ${id}\n`))
    if (!isReady) return { head: Buffer.concat([...parts, flushPacket]) }
    parts.push(toPacket('ready\n'), delimiterPacket)
  }
  if (isDeepening(request)) parts.push(toPacket('shallow-info\n'), ...toShallowLines(selection), delimiterPacket)
  parts.push(toPacket('packfile\n'))
  return { head: Buffer.concat(parts), selection, bandBytesMax }
}

/** Answers a request of version 0 or 1. */
function answerClassic(repository: Repository, request: ClassicRequest): UploadResponse {
  if (request.wants.size === 0) return { head: Buffer.alloc(0) }
  const selection = selectCommits(repository, request)
  const shallow = isDeepening(request) ? [...toShallowLines(selection), flushPacket] : []
  // The client first reads only the new shallow commits, and negotiates in further requests.
  if (!request.negotiates) return { head: Buffer.concat(shallow) }
  const { lines, sendsPack } = negotiateClassic(repository, request)
  const head = Buffer.concat([...shallow, ...lines.map((line) => toPacket(`${line}\n`))])
  if (!sendsPack) return { head }
  const { capabilities } = request
  if (capabilities.has('side-band-64k')) return { head, selection, bandBytesMax }
  // The older capability `side-band` allows packets of up to 1,000 bytes.
  return capabilities.has('side-band') ? { head, selection, bandBytesMax: 995 } : { head, selection }
}

/** The acknowledgments of versions 0 and 1, as in git's `upload-pack.c`. */
function negotiateClassic(repository: Repository, request: ClassicRequest): { lines: string[]; sendsPack: boolean } {
  const { capabilities, haves, isDone } = request
  const isDetailed = capabilities.has('multi_ack_detailed')
  const isMulti = isDetailed || capabilities.has('multi_ack')
  const common = findCommon(repository, request)
  const last = common.at(-1)
  const isReady = isEnough(repository, request, common)
  let lines: string[] = []
  if (isDetailed) lines = common.map((id) => `ACK ${id} common`)
  else if (isMulti) lines = common.map((id) => `ACK ${id} continue`)
  else if (common[0] !== undefined) lines = [`ACK ${common[0]}`]
  if (isDone) {
    if (last === undefined) return { lines: ['NAK'], sendsPack: true }
    return { lines: isMulti ? [...lines, `ACK ${last}`] : lines, sendsPack: true }
  }
  const isGivingUp = isReady && haves.size > 0
  if (isGivingUp && isDetailed) lines.push(`ACK ${last} ready`)
  if (last === undefined || isMulti) lines.push('NAK')
  if (isGivingUp && isDetailed && capabilities.has('no-done')) {
    return { lines: [...lines, `ACK ${last}`], sendsPack: true }
  }
  return { lines, sendsPack: false }
}

function toShallowLines({ shallow, unshallow }: Selection): Buffer[] {
  return [...shallow.map((id) => toPacket(`shallow ${id}\n`)), ...unshallow.map((id) => toPacket(`unshallow ${id}\n`))]
}

/** Whether the pack contains the commit that clones check out. */
export function sendsHead(repository: Repository, { commits }: Selection): boolean {
  const head = findHead(repository)
  const id = head === undefined ? undefined : findCommit(repository, head)
  return commits.some(({ object }) => object.id === id)
}
