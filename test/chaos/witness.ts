import { createHash } from 'node:crypto'
import { createClient } from '@skillstead/client'
import { toLeafHash, verifyCheckpoint, verifyConsistency, type Checkpoint } from '@skillstead/client/verify'
import { bytesOf, textOf } from '../support/answers.ts'
import { patient, type Ask } from './ask.ts'
import type { Trouble } from './trouble.ts'

interface Entry {
  readonly seq: number
  readonly type: string
  readonly subject: string
  readonly digest: string | null
}

const tileEntries = 256
/** So many of the checkpoints are held against each other in the end. */
const comparedMax = 120

/** Somebody outside who keeps every checkpoint that he saw, and holds the log to them. */
export function createWitness(baseUrl: string, ask: Ask, trouble: Trouble) {
  const api = createClient({ baseUrl, ...patient })
  const checkpoints: Checkpoint[] = []
  const leaves: string[] = []
  const counts = { checkpoints: 0, compared: 0 }
  /** Published versions, as the log has them: digests by subject. */
  const versions = new Map<string, string>()
  let key: string | undefined

  /** Reads what is new, and holds it against the last checkpoint. */
  async function look(): Promise<void> {
    key ??= (await ask.read('the key of the log', async () => textOf(await api.getPublicKey()))).trim()
    const note = await ask.read('the checkpoint', async () => textOf(await api.getCheckpoint()))
    try {
      const checkpoint = verifyCheckpoint(note, [key])
      await readEntries(checkpoint.treeSize)
      const root = rootOf(leaves, 0, checkpoint.treeSize)
      if (root !== checkpoint.rootHash) trouble.tell(`the entries have the root ${root}, the checkpoint another one`)
      compare(checkpoints.at(-1), checkpoint)
      checkpoints.push(checkpoint)
      counts.checkpoints += 1
    } catch (error) {
      trouble.tell(`the log: ${String(error)}`)
    }
  }

  async function readEntries(treeSize: number): Promise<void> {
    while (leaves.length < treeSize) {
      const tile = Math.floor(leaves.length / tileEntries)
      const width = Math.min(tileEntries, treeSize - tile * tileEntries)
      const path = `entries/${toTilePath(tile)}${width < tileEntries ? `.p/${width}` : ''}`
      const bundle = await ask.read(`the tile ${path}`, async () => bytesOf(await api.getTile({ path })))
      for (const text of splitBundle(bundle).slice(leaves.length - tile * tileEntries)) addEntry(text)
    }
  }

  function addEntry(text: string): void {
    const { seq, type, subject, digest } = JSON.parse(text) as Entry
    leaves.push(toLeafHash(text))
    if (seq !== leaves.length) trouble.tell(`the log has the entry ${seq} in the place of ${leaves.length}`)
    if (type !== 'version') return
    if (versions.has(subject)) trouble.tell(`the log has ${subject} twice`)
    versions.set(subject, digest!)
  }

  function compare(older: Checkpoint | undefined, newer: Checkpoint): void {
    if (!older) return
    const proof = prove(leaves.slice(0, newer.treeSize), older.treeSize)
    const { treeSize, rootHash } = newer
    verifyConsistency({ olderSize: older.treeSize, olderRootHash: older.rootHash, treeSize, rootHash, proof })
  }

  /** Holds every two of the checkpoints against each other; with very many of them, every two of some. */
  function compareAll(): void {
    const step = Math.ceil(checkpoints.length / comparedMax)
    const chosen = checkpoints.filter((_, i) => i % step === 0 || i === checkpoints.length - 1)
    for (const [i, newer] of chosen.entries()) {
      for (const older of chosen.slice(0, i)) {
        counts.compared += 1
        try {
          compare(older, newer)
        } catch (error) {
          trouble.tell(`the log: ${String(error)}`)
        }
      }
    }
  }
  return { look, compareAll, versions, counts }
}

export type Witness = ReturnType<typeof createWitness>

/** C2SP `tlog-tiles`: three digits a part, all but the last marked. */
function toTilePath(tile: number): string {
  const last = `${tile % 1000}`.padStart(3, '0')
  return tile < 1000 ? last : `x${toTilePath(Math.floor(tile / 1000))}/${last}`
}

function splitBundle(bundle: Buffer): string[] {
  const entries: string[] = []
  for (let at = 0; at < bundle.length;) {
    const end = at + 2 + bundle.readUInt16BE(at)
    entries.push(bundle.toString('utf8', at + 2, end))
    at = end
  }
  return entries
}

/** PROOF(m, D[n]) of RFC 6962, section 2.1.2, over the hashes of leaves. */
function prove(leaves: readonly string[], older: number): string[] {
  const walk = (from: number, to: number, m: number, isWhole: boolean): string[] => {
    if (m === to - from) return isWhole ? [] : [rootOf(leaves, from, to)]
    const split = from + splitOf(to - from)
    return m <= split - from
      ? [...walk(from, split, m, isWhole), rootOf(leaves, split, to)]
      : [...walk(split, to, m - (split - from), false), rootOf(leaves, from, split)]
  }
  return older === 0 ? [] : walk(0, leaves.length, older, true)
}

/** Full subtrees come again in every proof. */
const full = new Map<string, string>()

function rootOf(leaves: readonly string[], from: number, to: number): string {
  if (to - from === 0) return createHash('sha256').digest('base64')
  if (to - from === 1) return leaves[from]!
  const size = to - from
  const isFull = (size & (size - 1)) === 0
  const name = `${leaves[from]} ${size}`
  const known = isFull ? full.get(name) : undefined
  if (known !== undefined) return known
  const split = from + splitOf(size)
  const children = [rootOf(leaves, from, split), rootOf(leaves, split, to)].map((hash) => Buffer.from(hash, 'base64'))
  const root = createHash('sha256')
    .update(Buffer.concat([Buffer.of(1), ...children]))
    .digest('base64')
  if (isFull) full.set(name, root)
  return root
}

function splitOf(length: number): number {
  let split = 1
  while (split * 2 < length) split *= 2
  return split
}
