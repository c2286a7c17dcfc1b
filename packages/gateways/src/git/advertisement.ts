import { flushPacket, toPacket } from './pkt-line.ts'
import { findHead, mainRef, type Repository } from './repository.ts'

/** Versions of git's wire protocol; the header `Git-Protocol` selects one. */
export type ProtocolVersion = 0 | 1 | 2

/** The server's name in git's protocol, without a version, so that nodes of different versions send equal bytes. */
const agent = 'agent=skillstead'

/** Capabilities of the server in versions 0 and 1 of the protocol. */
const capabilities =
  'multi_ack multi_ack_detailed no-done side-band side-band-64k no-progress thin-pack ofs-delta include-tag shallow ' +
  'deepen-since deepen-not deepen-relative allow-tip-sha1-in-want allow-reachable-sha1-in-want object-format=sha1'

/** The protocol version that a client asks for: the highest known version of a list such as `version=2:other`. */
export function readProtocolVersion(header: string | null): ProtocolVersion {
  const keys = new Set((header ?? '').split(':'))
  if (keys.has('version=2')) return 2
  return keys.has('version=1') ? 1 : 0
}

/** The response to `GET info/refs?service=git-upload-pack`. */
export function toAdvertisement(repository: Repository, version: ProtocolVersion): Buffer {
  if (version === 2) {
    const lines = ['version 2', agent, 'ls-refs=unborn', 'fetch=shallow', 'object-format=sha1']
    return Buffer.concat([...lines.map((line) => toPacket(`${line}\n`)), flushPacket])
  }
  const head = findHead(repository)
  const symref = head === undefined ? [] : [`symref=HEAD:${mainRef}`]
  const offered = [capabilities, ...symref, agent].join(' ')
  const lines = toRefLines(repository)
  // A repository without references has one line for the capabilities instead.
  const [first = `${'0'.repeat(40)} capabilities^{}`, ...others] = lines
  return Buffer.concat([
    toPacket('# service=git-upload-pack\n'),
    flushPacket,
    ...(version === 1 ? [toPacket('version 1\n')] : []),
    toPacket(`${first}\0${offered}\n`),
    ...others.map((line) => toPacket(`${line}\n`)),
    flushPacket,
  ])
}

function toRefLines(repository: Repository): string[] {
  const head = findHead(repository)
  const lines = head === undefined ? [] : [`${head} HEAD`]
  for (const { name, id, peeled } of repository.refs) {
    lines.push(`${id} ${name}`)
    if (peeled !== undefined) lines.push(`${peeled} ${name}^{}`)
  }
  return lines
}
