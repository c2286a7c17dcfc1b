import type { Content } from '@skillstead/protocol'
import type { Context } from '../context.ts'
import { readSigningKeys, toSignatureLines } from './keys.ts'
import { toRoot } from './merkle.ts'
import { keep } from './transparency.ts'
import { readTreeHead, type TreeHead } from './tree.ts'

/** How many checkpoints stay ready; feeds ask for the newest again and again. */
const checkpointsKeptMax = 16
/** Proxies may spare the node for this long; whoever polls sees the log grow all the same. */
const maxAgeSeconds = 2

/** The log at one size, signed. */
export interface SignedCheckpoint {
  readonly origin: string
  readonly treeSize: number
  /** Base64. */
  readonly rootHash: string
  /** The signed note (C2SP tlog-checkpoint). */
  readonly text: string
  /** Which log and keys it is, for entity tags. */
  readonly tag: string
}

/** The newest checkpoint. */
export async function readSignedCheckpoint(context: Context): Promise<SignedCheckpoint> {
  return signCheckpoint(context, await readTreeHead(context.database.read))
}

/**
 * The checkpoint of a tree. Ed25519 gives the same signature each time, so all nodes of a cluster answer the same; a
 * process signs each size once.
 */
export async function signCheckpoint(context: Context, { size, frontier }: TreeHead): Promise<SignedCheckpoint> {
  const { origin, transparency } = context
  const keys = await readSigningKeys(context)
  const tag = `${size}-${keys.map(({ number }) => number).join('-')}`
  const rootHash = toRoot(frontier).toString('base64')
  const text = `${origin}\n${size}\n${rootHash}\n`
  let signed = transparency.checkpoints.get(tag)
  if (!signed?.startsWith(text)) {
    signed = `${text}\n${toSignatureLines(origin, text, keys).join('\n')}\n`
    keep(transparency.checkpoints, tag, signed, checkpointsKeptMax)
  }
  return { origin, treeSize: size, rootHash, text: signed, tag }
}

/** GET /checkpoint: the newest checkpoint as a signed note. */
export async function readCheckpoint(context: Context): Promise<Content> {
  const { text } = await readSignedCheckpoint(context)
  return {
    contentType: 'text/plain; charset=utf-8',
    body: Buffer.from(text),
    cacheControl: `public, max-age=${maxAgeSeconds}`,
  }
}
