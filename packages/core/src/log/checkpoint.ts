import type { Content } from '@skillstead/protocol'
import { cacheRecent, type LogContext } from './log-context.ts'
import { readSigningKeys, toCosignatureLines, toSignatureLines, type SigningKey } from './signing-keys.ts'
import { toRoot } from './merkle.ts'
import { toVerifierKey } from './signed-notes.ts'
import { readTreeHead, type TreeHead } from './log-tree.ts'

/** Number of cached checkpoints. Feeds request the newest one repeatedly. */
const checkpointsKeptMax = 32
/** Time in seconds that proxies may cache a checkpoint; short enough that pollers see the log grow. */
const maxAgeSeconds = 2
/** The signed time is rounded to steps of 60 s, so that responses stay identical within a step. */
const timeStepSeconds = 60
/** Maximum number of keys that cosign: C2SP readers examine 16 signature lines, and the plain signatures come first. */
const timedKeysMax = 4

/** A signed statement of the log's size and root hash. */
export interface SignedCheckpoint {
  readonly origin: string
  readonly treeSize: number
  /** Base64. */
  readonly rootHash: string
  /** The signed note (C2SP tlog-checkpoint) with cosignatures that carry the current time (tlog-cosignature). */
  readonly text: string
  /** The signed note without cosignatures: it changes only with the log and its keys. */
  readonly timeless: string
  /** Identifies the log, keys and time of `text`, for entity tags. */
  readonly tag: string
}

/** Returns the newest checkpoint. */
export async function readSignedCheckpoint(context: LogContext): Promise<SignedCheckpoint> {
  return signCheckpoint(context, await readTreeHead(context.database.read))
}

/**
 * Signs the checkpoint of a tree. Ed25519 signatures are deterministic, so all nodes of a cluster return the same text.
 * A process signs each size once, and cosigns it once for each minute in which it is requested.
 *
 * While more than one key signs, an extension line names each key, so that the old key, which readers trust, vouches
 * for the new key. The signed time proves to readers that the log is not frozen at an old size, which a signature alone
 * does not.
 */
export async function signCheckpoint(context: LogContext, { size, frontier }: TreeHead): Promise<SignedCheckpoint> {
  const { origin } = context
  const keys = await readSigningKeys(context)
  const rootHash = toRoot(frontier).toString('base64')
  const body = `${origin}\n${size}\n${rootHash}\n${toExtensionLines(origin, keys)}`
  const seconds = toTimeStep(context.clock.now())
  const keyTag = `${size}-${keys.map(({ number }) => number).join('-')}`
  const tag = `${keyTag}-${seconds / timeStepSeconds}`
  const timeless = signOnce(context, keyTag, body, () => `${body}\n${joinLines(toSignatureLines(origin, body, keys))}`)
  const text = signOnce(
    context,
    tag,
    body,
    () => timeless + joinLines(toCosignatureLines(origin, body, seconds, keys.slice(0, timedKeysMax))),
  )
  return { origin, treeSize: size, rootHash, text, timeless, tag }
}

function toTimeStep(epochMs: number): number {
  return Math.max(0, Math.floor(epochMs / 1000 / timeStepSeconds) * timeStepSeconds)
}

function toExtensionLines(origin: string, keys: readonly SigningKey[]): string {
  return keys.length > 1 ? joinLines(keys.map(({ publicKey }) => `key ${toVerifierKey(origin, publicKey)}`)) : ''
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

/**
 * Signs a text, unless the note is cached. A cached note with another body belongs to a log that a restore replaced,
 * and is signed again.
 */
function signOnce({ transparency }: LogContext, tag: string, body: string, make: () => string): string {
  const cached = transparency.checkpoints.get(tag)
  if (cached?.startsWith(body)) return cached
  const made = make()
  cacheRecent(transparency.checkpoints, tag, made, checkpointsKeptMax)
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
