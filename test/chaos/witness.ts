import { createHash } from 'node:crypto'
import { createClient } from '@skillstead/client'
import { toLeafHash, verifyCheckpoint, verifyConsistency, type Checkpoint } from '@skillstead/client/verify'
import { bytesOf, textOf } from '../support/answers.ts'
import { patientOptions, type Ask } from './ask.ts'
import type { Trouble } from './trouble.ts'

interface Entry {
  readonly seq: number
  readonly type: string
  readonly subject: string
  readonly digest: string | null
}

const tileEntries = 256
/** The most checkpoints that are compared with each other at the end. */
const comparedMax = 120

/** An outside observer that stores every checkpoint of the log and checks that the log stays consistent with it. */
export function createWitness(baseUrl: string, ask: Ask, trouble: Trouble) {
  const api = createClient({ baseUrl, ...patientOptions })
  const checkpoints: Checkpoint[] = []
  const leaves: string[] = []
  const counts = { checkpoints: 0, compared: 0 }
  /** The digests of the versions in the log, by subject. */
  const versions = new Map<string, string>()
  let key: string | undefined

  /** Reads the new entries and verifies them against the new and the previous checkpoint. */
  async function poll(): Promise<void> {
    key ??= (await ask.read('the key of the log', async () => textOf(await api.getPublicKey()))).trim()
    const note = await ask.read('the checkpoint', async () => textOf(await api.getCheckpoint()))
    try {
      const checkpoint = verifyCheckpoint(note, [key])
      await readEntries(checkpoint.treeSize)
      const root = rootOf(leaves, 0, checkpoint.treeSize)
      if (root !== checkpoint.rootHash)
        trouble.report(`the entries have the root ${root}, but the checkpoint has another root`)
      compare(checkpoints.at(-1), checkpoint)
      checkpoints.push(checkpoint)
      counts.checkpoints += 1
    } catch (error) {
      trouble.report(`the log: ${String(error)}`)
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
    if (seq !== leaves.length) trouble.report(`the log has the entry ${seq} at position ${leaves.length}`)
    if (type !== 'version') return
    if (versions.has(subject)) trouble.report(`the log has ${subject} twice`)
    versions.set(subject, digest!)
  }

  function compare(older: Checkpoint | undefined, newer: Checkpoint): void {
    if (!older) return
    const proof = prove(leaves.slice(0, newer.treeSize), older.treeSize)
    const { treeSize, rootHash } = newer
    verifyConsistency({ olderSize: older.treeSize, olderRootHash: older.rootHash, treeSize, rootHash, proof })
  }

  /** Verifies that all pairs of checkpoints are consistent; of many checkpoints, an evenly spaced selection. */
  function compareAll(): void {
    const step = Math.ceil(checkpoints.length / comparedMax)
    const chosen = checkpoints.filter((_, i) => i % step === 0 || i === checkpoints.length - 1)
    for (const [i, newer] of chosen.entries()) {
      for (const older of chosen.slice(0, i)) {
        counts.compared += 1
        try {
          compare(older, newer)
        } catch (error) {
          trouble.report(`the log: ${String(error)}`)
        }
      }
    }
  }
  return { poll, compareAll, versions, counts }
}

export type Witness = ReturnType<typeof createWitness>

/** C2SP `tlog-tiles`: each part has three digits, and all but the last start with `x`. */
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

/** Caches the hashes of full subtrees, which occur in every proof. */
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
