import { createPublicKey, verify } from 'node:crypto'
import type { RegistryApi } from '@skillstead/protocol'
import { bytesOf, textOf } from './answers.ts'
import { naiveRoot } from './naive-tree.ts'

/** A checkpoint, read as anybody could who has only the published formats. */
export interface ReadCheckpoint {
  readonly origin: string
  readonly treeSize: number
  readonly rootHash: string
  /** The keys whose signatures hold, as the hashes in their lines. */
  readonly signers: readonly string[]
  readonly lines: number
}

/** Reads a signed note; `signers` names only keys among `vkeys` whose signature is right. */
export function readCheckpoint(note: string, vkeys: readonly string[]): ReadCheckpoint {
  const end = note.lastIndexOf('\n\n')
  const text = note.slice(0, end + 1)
  const [origin, treeSize, rootHash, rest] = text.split('\n')
  if (rest !== '') throw new Error('The checkpoint has more than three lines.')
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
  return { origin: origin!, treeSize: Number(treeSize), rootHash: rootHash!, signers, lines: lines.length }
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

/** The root of the tree over the entries that the bundles give, computed anew. */
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
