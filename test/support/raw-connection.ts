import { connect, type Socket } from 'node:net'

/** A raw HTTP response. */
export interface RawAnswer {
  readonly status: number
  /** By lower-case name; of a field that came twice both values, joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** A connection that sends whatever bytes it is given, as no HTTP client would. */
export interface RawConnection {
  readonly socket: Socket
  send(bytes: string | Uint8Array): void
  /** The next answer, or undefined where the connection ended before there was a whole one. */
  read(method?: string): Promise<RawAnswer | undefined>
  /** Received bytes that were not read yet. */
  readonly left: Buffer
  readonly isOpen: boolean
  /** Resolves when the other side has closed the connection. */
  readonly ended: Promise<void>
  close(): void
}

export async function openRaw(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  socket.setNoDelay(true)
  let left: Buffer = Buffer.alloc(0)
  let chunks: Buffer[] = []
  let isOpen = true
  let wake: (() => void) | undefined
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      isOpen = false
      wake?.()
      resolve()
    }
    socket.on('end', end).on('close', end)
  })
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    wake?.()
  })

  function gather(): void {
    if (chunks.length === 0) return
    left = Buffer.concat([left, ...chunks])
    chunks = []
  }

  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    async read(method = 'GET') {
      for (;;) {
        gather()
        const parsed = parseAnswer(left, method, !isOpen)
        if (parsed) {
          left = left.subarray(parsed.bytes)
          return parsed.answer
        }
        if (!isOpen) return undefined
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    get left() {
      gather()
      return left
    },
    get isOpen() {
      return isOpen && !socket.destroyed
    },
    ended,
    close: () => void socket.destroy(),
  }
}

/** Sends one request as it stands on a connection of its own, and gives the first answer. */
export async function askRaw(port: number, text: string, method?: string): Promise<RawAnswer | undefined> {
  const connection = await openRaw(port)
  connection.send(Buffer.from(text, 'latin1'))
  const answer = await connection.read(method)
  connection.close()
  return answer
}

function parseAnswer(
  bytes: Buffer,
  method: string,
  isWhole: boolean,
): { answer: RawAnswer; bytes: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  const start = headEnd + 4
  if (status === 100) {
    const after = parseAnswer(bytes.subarray(start), method, isWhole)
    return after && { answer: after.answer, bytes: after.bytes + start }
  }
  const headers: Record<string, string> = Object.create(null)
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase()
    const value = line.slice(line.indexOf(':') + 1).trim()
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value
  }
  const body = parseBody(bytes.subarray(start), { status, headers, method, isWhole })
  return body && { answer: { status, headers, body: body.content }, bytes: start + body.bytes }
}

function parseBody(
  bytes: Buffer,
  head: { status: number; headers: Record<string, string>; method: string; isWhole: boolean },
): { content: Buffer; bytes: number } | undefined {
  const { status, headers, method, isWhole } = head
  if (method === 'HEAD' || status === 204 || status === 304) return { content: Buffer.alloc(0), bytes: 0 }
  if (headers['transfer-encoding'] === 'chunked') return parseChunks(bytes)
  const length = headers['content-length']
  if (length === undefined) return isWhole ? { content: bytes, bytes: bytes.length } : undefined
  if (bytes.length < Number(length)) return undefined
  return { content: bytes.subarray(0, Number(length)), bytes: Number(length) }
}

function parseChunks(bytes: Buffer): { content: Buffer; bytes: number } | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const next = lineEnd + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return { content: Buffer.concat(parts), bytes: next }
    parts.push(bytes.subarray(lineEnd + 2, next - 2))
    at = next
  }
}
