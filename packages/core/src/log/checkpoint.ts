import type { Content } from '@skillstead/protocol'
import type { LogContext } from './log-context.ts'
import { readSigningKeys, toCosignatureLines, toSignatureLines, type SigningKey } from './signing-keys.ts'
import { toRoot } from './merkle.ts'
import { toVerifierKey } from './signed-notes.ts'
import { keep } from './transparency.ts'
import { readTreeHead, type TreeHead } from './log-tree.ts'

/** How many checkpoints stay ready; feeds ask for the newest again and again. */
const checkpointsKeptMax = 32
/** Proxies may spare the node for this long; whoever polls sees the log grow all the same. */
const maxAgeSeconds = 2
/** The signed time is in whole steps of this, so that answers stay the same for as long. */
const timeStepSeconds = 60
/** Readers look at 16 signature lines, and those of the text come first. */
const timedKeysMax = 4

/** The log at one size, signed. */
export interface SignedCheckpoint {
  readonly origin: string
  readonly treeSize: number
  /** Base64. */
  readonly rootHash: string
  /** The signed note (C2SP tlog-checkpoint), with the time at which it was the newest (tlog-cosignature). */
  readonly text: string
  /** The same without the time: it changes with the log and its keys alone. */
  readonly timeless: string
  /** Which log, keys and time `text` is of, for entity tags. */
  readonly tag: string
}

/** The newest checkpoint. */
export async function readSignedCheckpoint(context: LogContext): Promise<SignedCheckpoint> {
  return signCheckpoint(context, await readTreeHead(context.database.read))
}

/**
 * The checkpoint of a tree. Ed25519 gives the same signature each time, so all nodes of a cluster answer the same; a
 * process signs each size once, and once more for each minute that it is asked for.
 *
 * While more than one key signs, an extension line names each: the old key, which is trusted, vouches for the new one.
 * The time shows a reader that the log is kept from growing, which signatures alone do not.
 */
export async function signCheckpoint(context: LogContext, { size, frontier }: TreeHead): Promise<SignedCheckpoint> {
  const { origin } = context
  const keys = await readSigningKeys(context)
  const rootHash = toRoot(frontier).toString('base64')
  const body = `${origin}\n${size}\n${rootHash}\n${toKeyLines(origin, keys)}`
  const seconds = toStep(context.clock.now())
  const keyTag = `${size}-${keys.map(({ number }) => number).join('-')}`
  const tag = `${keyTag}-${seconds / timeStepSeconds}`
  const timeless = once(context, keyTag, body, () => `${body}\n${toLines(toSignatureLines(origin, body, keys))}`)
  const text = once(
    context,
    tag,
    body,
    () => timeless + toLines(toCosignatureLines(origin, body, seconds, keys.slice(0, timedKeysMax))),
  )
  return { origin, treeSize: size, rootHash, text, timeless, tag }
}

function toStep(epochMs: number): number {
  return Math.max(0, Math.floor(epochMs / 1000 / timeStepSeconds) * timeStepSeconds)
}

function toKeyLines(origin: string, keys: readonly SigningKey[]): string {
  return keys.length > 1 ? toLines(keys.map(({ publicKey }) => `key ${toVerifierKey(origin, publicKey)}`)) : ''
}

function toLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

/** Signs where it was not signed before; a kept text of another body is of a log that was restored. */
function once({ transparency }: LogContext, tag: string, body: string, make: () => string): string {
  const kept = transparency.checkpoints.get(tag)
  if (kept?.startsWith(body)) return kept
  const made = make()
  keep(transparency.checkpoints, tag, made, checkpointsKeptMax)
  return made
}

/** GET /checkpoint: the newest checkpoint as a signed note. */
export async function readCheckpoint(context: LogContext): Promise<Content> {
  const { text } = await readSignedCheckpoint(context)
  return {
    contentType: 'text/plain; charset=utf-8',
    body: Buffer.from(text),
    cacheControl: `public, max-age=${maxAgeSeconds}`,
  }
}
