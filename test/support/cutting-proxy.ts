import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** When a connection to PostgreSQL breaks: before the server gets a commit, or after it, before the acknowledgement. */
export type CommitCut = 'before' | 'after'

const commit = Buffer.from('commit\0')
const replyMs = 50

/** A TCP proxy to PostgreSQL that cuts connections in the middle of a commit. */
export async function openCuttingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  /** The commits that follow, of which the last one is cut. */
  let left = 0
  let kind: CommitCut = 'before'
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    const cut = () => {
      client.destroy()
      server.destroy()
    }
    let isDeaf = false
    for (const socket of [client, server]) socket.on('error', () => {}).on('close', cut)
    server.on('data', (bytes) => void (isDeaf || client.write(bytes)))
    client.on('data', (bytes: Buffer) => {
      const isCut = left > 0 && bytes.includes(commit) && --left === 0
      if (isCut && kind === 'before') return cut()
      server.write(bytes)
      if (!isCut) return
      isDeaf = true
      setTimeout(cut, replyMs)
    })
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(databaseUrl)
  url.port = `${(proxy.address() as AddressInfo).port}`
  return {
    databaseUrl: url.href,
    /** Cuts the connection of the next commit, or of a later one. */
    cutCommit(when: CommitCut, place = 1): void {
      kind = when
      left = place
    },
    /** Whether a cut has happened. */
    get isDone() {
      return left === 0
    },
    close: () => void proxy.close(),
  }
}
