import { createHash, createPublicKey, verify } from 'node:crypto'
import type { RegistryApi } from '@skillstead/protocol'
import { bytesOf, textOf } from './answers.ts'
import { naiveRoot } from './naive-tree.ts'

/** A checkpoint, parsed by the published formats alone. */
export interface ReadCheckpoint {
  readonly origin: string
  readonly treeSize: number
  readonly rootHash: string
  /** The keys whose signatures hold, as the hashes in their lines. */
  readonly signers: readonly string[]
  /** How many lines have the form of a signature of the text alone. */
  readonly lines: number
  /** The keys that the text names, by their extension lines. */
  readonly named: readonly string[]
  /** The times, in milliseconds since 1970, of the signatures that the given keys made on the note. */
  readonly times: readonly number[]
}

/** Reads a signed note; `signers` names only keys among `vkeys` whose signature is right. */
export function readCheckpoint(note: string, vkeys: readonly string[]): ReadCheckpoint {
  const end = note.lastIndexOf('\n\n')
  const text = note.slice(0, end + 1)
  const [origin, treeSize, rootHash, ...extensions] = text.slice(0, -1).split('\n')
  if (extensions.some((line) => !line.startsWith('key '))) throw new Error('The checkpoint has lines of another kind.')
  const lines = note
    .slice(end + 2)
    .trimEnd()
    .split('\n')
  const signers = lines.flatMap((line) => {
    const [, name, base64] = /^— (\S+) (\S+)$/.exec(line) ?? []
    const signature = Buffer.from(base64 ?? '', 'base64')
    const id = signature.subarray(0, 4).toString('hex')
    const vkey = vkeys.find((key) => key.startsWith(`${name}+${id}+`))
    return vkey && verify(null, Buffer.from(text), toPublicKey(vkey), signature.subarray(4)) ? [id] : []
  })
  return {
    origin: origin!,
    treeSize: Number(treeSize),
    rootHash: rootHash!,
    signers,
    lines: lines.filter((line) => Buffer.from(line.split(' ')[2]!, 'base64').length === 4 + 64).length,
    named: extensions.map((line) => line.slice('key '.length)),
    times: lines.flatMap((line) => readTime(text, line, vkeys)),
  }
}

/** The time of a cosignature (C2SP `tlog-cosignature`, version 1) by one of the keys, where the signature is right. */
function readTime(text: string, line: string, vkeys: readonly string[]): number[] {
  const [, name, base64] = line.split(' ')
  const bytes = Buffer.from(base64!, 'base64')
  const vkey = vkeys.find((key) => key.startsWith(`${name}+`) && toCosignerId(key) === bytes.toString('hex', 0, 4))
  if (!vkey) return []
  const seconds = bytes.readBigUInt64BE(4)
  const message = Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`)
  return verify(null, message, toPublicKey(vkey), bytes.subarray(12)) ? [Number(seconds) * 1000] : []
}

function toCosignerId(vkey: string): string {
  const [name, , ...key] = vkey.split('+')
  const bytes = Buffer.from(key.join('+'), 'base64')
  bytes[0] = 4
  return createHash('sha256').update(`${name}\n`).update(bytes).digest('hex').slice(0, 8)
}

/** The keys that a node shows. */
export async function readKeys(api: RegistryApi): Promise<string[]> {
  return (await textOf(await api.getPublicKey())).trimEnd().split('\n')
}

/** The eight digits that a key is called by in signatures. */
export function idOf(vkey: string): string {
  return vkey.split('+')[1]!
}

/** Every entry of the log as its bundles give it. */
export async function readEntries(api: RegistryApi, treeSize: number): Promise<Buffer[]> {
  const entries: Buffer[] = []
  for (let n = 0; n * 256 < treeSize; n += 1) {
    const width = Math.min(256, treeSize - n * 256)
    const path = `entries/${`${n}`.padStart(3, '0')}${width < 256 ? `.p/${width}` : ''}`
    entries.push(...splitBundle(await bytesOf(await api.getTile({ path }))))
  }
  return entries
}

/** The root hash of the tree, recomputed from the entries in the bundles. */
export async function readRoot(api: RegistryApi, treeSize: number): Promise<string> {
  return naiveRoot(await readEntries(api, treeSize)).toString('base64')
}

function toPublicKey(vkey: string) {
  const bytes = Buffer.from(vkey.split('+').slice(2).join('+'), 'base64').subarray(1)
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bytes])
  return createPublicKey({ key: spki, format: 'der', type: 'spki' })
}

function splitBundle(bundle: Buffer): Buffer[] {
  const entries: Buffer[] = []
  for (let at = 0; at < bundle.length;) {
    const end = at + 2 + bundle.readUInt16BE(at)
    entries.push(bundle.subarray(at + 2, end))
    at = end
  }
  return entries
}
