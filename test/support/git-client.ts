import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'

/** A small client of git's smart HTTP protocol, which can send what git never sends. */

/** An id that no repository has. */
export const unknownId = 'f'.repeat(40)

/** Packets: `0000` and `0001` stay as they are, other lines get a length and a line feed. */
export function toPackets(...lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => (/^000[01]$/.test(line) ? line : toPacket(`${line}\n`))).join(''))
}

export function toPacket(content: string): string {
  return (Buffer.byteLength(content) + 4).toString(16).padStart(4, '0') + content
}

/** The start of a packet with a part of the pack. */
const band = '\u0001'

/** The packets of a response: lines without their line feed, and `0000` or `0001`. Bytes are read as Latin-1. */
export function readPackets(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes).toString('latin1')
  const packets: string[] = []
  for (let at = 0; at < text.length;) {
    const length = Number.parseInt(text.slice(at, at + 4), 16)
    const packet = length < 4 ? text.slice(at, at + 4) : text.slice(at + 4, at + length)
    packets.push(packet.startsWith(band) ? packet : packet.replace(/\n$/, ''))
    at += Math.max(4, length)
  }
  return packets
}

export type GitVersion = 0 | 1 | 2

function versionHeader(version: GitVersion): Record<string, string> {
  return version === 0 ? {} : { 'git-protocol': `version=${version}` }
}

/** Reads the references of a repository by name. */
export async function listRefs(repository: string): Promise<Record<string, string>> {
  const response = await fetch(`${repository}/info/refs?service=git-upload-pack`)
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  const lines = readPackets(new Uint8Array(await response.arrayBuffer())).slice(2, -1)
  return Object.fromEntries(lines.map((line) => line.split('\0')[0]!.split(' ').toReversed() as [string, string]))
}

/** Sends a request to `git-upload-pack`. */
export function upload(
  repository: string,
  body: Uint8Array | string,
  { version = 0, ...init }: { version?: GitVersion; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(`${repository}/git-upload-pack`, {
    ...init,
    method: 'POST',
    headers: {
      'content-type': 'application/x-git-upload-pack-request',
      ...versionHeader(version),
      ...init.headers,
    },
    body: body as BodyInit,
  })
}

/** An object of a pack. */
export interface PackedObject {
  readonly kind: string
  readonly bytes: Buffer
}

/** Fetches objects with version 2, as git does for a clone. Throws the text of an error. */
export async function fetchObjects(
  repository: string,
  wants: readonly string[],
  more: readonly string[] = ['done'],
  known?: ReadonlyMap<string, PackedObject>,
): Promise<Map<string, PackedObject>> {
  return readPack(await fetchPack(repository, wants, more), known)
}

/** Fetches a pack as {@link fetchObjects} does. */
export async function fetchPack(repository: string, wants: readonly string[], more: readonly string[] = ['done']) {
  const body = toPackets('command=fetch', '0001', ...wants.map((id) => `want ${id}`), ...more, '0000')
  const response = await upload(repository, body, { version: 2 })
  const packets = readPackets(new Uint8Array(await response.arrayBuffer()))
  const start = packets.indexOf('packfile')
  if (start === -1) throw new Error(packets.join('\n'))
  return readBands(packets.slice(start + 1))
}

function readBands(packets: readonly string[]): Buffer {
  const failure = packets.find((packet) => packet.startsWith('\u0003'))
  if (failure !== undefined) throw new Error(failure.slice(1))
  const parts = packets.filter((packet) => packet.startsWith(band)).map((packet) => packet.slice(1))
  return Buffer.from(parts.join(''), 'latin1')
}

const kinds = ['', 'commit', 'tree', 'blob', 'tag']

/** An entry of a pack; `base` is the object to which a delta applies, by its id or by the place of its entry. */
export interface PackEntry {
  readonly place: number
  readonly kind: string
  readonly base?: string | number
  readonly bytes: Buffer
}

const deltaKind = 7
const offsetDeltaKind = 6

/** The entries of a pack. Throws if the pack is damaged. */
export function readEntries(pack: Buffer): PackEntry[] {
  const body = pack.subarray(0, -20)
  const trailer = createHash('sha1').update(body).digest('hex')
  if (pack.toString('latin1', 0, 4) !== 'PACK' || trailer !== pack.toString('hex', body.length)) {
    throw new Error('The pack is damaged.')
  }
  const entries: PackEntry[] = []
  let at = 12
  for (let left = pack.readUInt32BE(8); left > 0; left--) {
    const place = at
    let byte = pack[at++]!
    const number = (byte >> 4) & 7
    let size = byte & 15
    for (let shift = 4; byte & 128; shift += 7) {
      byte = pack[at++]!
      size += (byte & 127) * 2 ** shift
    }
    let base: string | number | undefined
    if (number === deltaKind) base = pack.toString('hex', at, (at += 20))
    if (number === offsetDeltaKind) {
      byte = pack[at++]!
      let distance = byte & 127
      while (byte & 128) {
        byte = pack[at++]!
        distance = (distance + 1) * 128 + (byte & 127)
      }
      base = place - distance
    }
    const { buffer: bytes, engine } = inflateSync(body.subarray(at), { info: true }) as unknown as {
      buffer: Buffer
      engine: { bytesWritten: number }
    }
    if (bytes.length !== size) throw new Error(`An object has ${bytes.length} instead of ${size} bytes.`)
    at += engine.bytesWritten
    entries.push({ place, ...(base === undefined ? { kind: kinds[number]! } : { kind: 'delta', base }), bytes })
  }
  if (at !== body.length) throw new Error('The pack has bytes after its last object.')
  return entries
}

/**
 * The objects of a pack by id. Throws if the pack is damaged. The base of a delta must come before it, or be one of the
 * `known` objects.
 */
export function readPack(pack: Buffer, known: ReadonlyMap<string, PackedObject> = new Map()) {
  const objects = new Map<string, PackedObject>()
  const places = new Map<number, string>()
  for (const { place, kind: entryKind, base: named, bytes: content } of readEntries(pack)) {
    const base = typeof named === 'number' ? (places.get(named) ?? `at ${named}`) : named
    const from = base === undefined ? undefined : (objects.get(base) ?? known.get(base))
    if (base !== undefined && !from) throw new Error(`The base ${base} is missing.`)
    const kind = from ? from.kind : entryKind
    const bytes = from ? applyDelta(from.bytes, content) : content
    const id = createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')
    objects.set(id, { kind, bytes })
    places.set(place, id)
  }
  return objects
}

/** Makes an object from its base (gitformat-pack, deltified representation). */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let at = 0
  const readSize = () => {
    let [size, shift, byte] = [0, 0, 128]
    for (; byte & 128; shift += 7) {
      byte = delta[at++]!
      size += (byte & 127) * 2 ** shift
    }
    return size
  }
  if (readSize() !== base.length) throw new Error('The delta has another base.')
  const size = readSize()
  const parts: Buffer[] = []
  while (at < delta.length) {
    const instruction = delta[at++]!
    if (instruction < 128) {
      parts.push(delta.subarray(at, (at += instruction)))
      continue
    }
    const field = (bits: readonly number[]) =>
      bits.reduce((sum, bit, i) => sum + (instruction & (1 << bit) ? delta[at++]! * 256 ** i : 0), 0)
    const start = field([0, 1, 2, 3])
    parts.push(base.subarray(start, start + (field([4, 5, 6]) || 65_536)))
  }
  const made = Buffer.concat(parts)
  if (made.length !== size) throw new Error(`A delta makes ${made.length} instead of ${size} bytes.`)
  return made
}

/** The texts of the blobs, sorted, without the files that the node adds. */
export function readBlobTexts(objects: ReadonlyMap<string, PackedObject>): string[] {
  const blobs = [...objects.values()].filter(({ kind }) => kind === 'blob')
  const texts = blobs.map(({ bytes }) => bytes.toString()).toSorted()
  return texts.filter((text) => !/"plugins": \[|agent-plugins\.org|^\* -text/.test(text))
}
