import { setImmediate } from 'node:timers/promises'
import {
  VerificationError,
  parseVerifierKey,
  verifyCheckpoint,
  verifyNote,
  type Signer,
} from '@skillstead/client/verify'
import { appendLeaf, hashLeaf, toRoot } from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { RegistryError, parseForeignJson } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import { damaged, type BundleHeader } from './format.ts'
import { createNeeds, type Needs } from './needs.ts'
import { readBundle, type BundlePart } from './read.ts'

export interface VerifyBundleOptions {
  /** Verifier keys that are believed. Without any those that the bundle names are, which proves only that it is whole. */
  readonly keys?: readonly string[]
  /** Told of each piece of content, in the order of the file. */
  onContent?(digest: string): void
  /** Told how far it is, in pieces of content. */
  onProgress?(progress: { done: number; total: number }): void
  readonly signal?: AbortSignal
}

/** A bundle in which everything fits together. */
export interface VerifiedBundle {
  readonly header: BundleHeader
  /** The keys of the log's node that signed: the header or, where a mirror wrote it, the checkpoint alone. */
  readonly signers: readonly Signer[]
  /** Whether they are among those that were given. */
  readonly isTrusted: boolean
  /** The keys of the mirror that wrote it; none where the node itself did. */
  readonly makers: readonly Signer[]
  /**
   * Whether these are among those that were given. The log and its content are proven without them; what was left out,
   * and when it was made, is the mirror's word.
   */
  readonly isMakerTrusted: boolean
  /** When the log's checkpoint was the newest, in milliseconds since 1970, where the node says. */
  readonly signedAt: number | undefined
  /** The keys that sign for the log at present. */
  readonly endorsedKeys: readonly string[]
}

/**
 * Reads a bundle once from beginning to end and checks all of it: who signed it, that the entries follow on each other
 * and lead to the root that the log's checkpoint is of, and that each piece of content is the one that an entry names.
 * Needs no database and holds no more than a part of it in memory, beside a line for each file. Throws
 * `invalid_request` with a sentence about the first thing that is wrong.
 */
export async function verifyBundle(file: string, options: VerifyBundleOptions = {}): Promise<VerifiedBundle> {
  const parts = readBundle(file)
  try {
    const first = await parts.next()
    if (first.done || first.value.kind !== 'header') throw damaged('it ends too soon')
    const verified = verifyHeader(first.value, options.keys)
    await verifyParts(parts, verified.header, options)
    return verified
  } finally {
    await parts.return(undefined)
  }
}

/** Who signed the header and the checkpoint in it. Throws `invalid_request`. */
function verifyHeader(part: Extract<BundlePart, { kind: 'header' }>, given: readonly string[] = []): VerifiedBundle {
  const { header } = part
  const { maker } = header
  const isTrusted = given.length > 0
  const keys = isTrusted ? given : header.keys
  const ofMaker = given.filter((key) => maker !== undefined && parseVerifierKey(key).name === maker.name)
  const isMakerTrusted = ofMaker.length > 0
  try {
    const writers = maker ? undefined : verifyNote(toNote(part), keys, 'the bundle').signers
    const { origin, treeSize, signedAt, endorsedKeys, signers } = verifyCheckpoint(header.checkpoint, keys)
    if (origin !== header.origin) throw damaged(`it is of ${header.origin}, and its checkpoint of ${origin}`)
    if (treeSize !== header.until)
      throw damaged(`it ends at entry ${header.until}, and its checkpoint is of ${treeSize} entries`)
    // After the checkpoint: a bundle of another log than the keys are of is told so first.
    const makers = maker ? verifyNote(toNote(part), isMakerTrusted ? ofMaker : maker.keys, 'the bundle').signers : []
    const writer = maker?.name ?? origin
    if (!(writers ?? makers).some(({ name }) => name === writer)) throw damaged(`it is not signed by ${writer}`)
    return { header, signers: writers ?? signers, isTrusted, makers, isMakerTrusted, signedAt, endorsedKeys }
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    throw new RegistryError('invalid_request', isTrusted ? `${error.message} ${changed}` : error.message, {
      cause: error,
    })
  }
}

function toNote({ text, signature }: Extract<BundlePart, { kind: 'header' }>): string {
  return `${text}\n${signature}`
}

const changed = 'If the node changed its key, compare the new one with its operator, and give it with --key.'

/** How long reading entries may hold the event loop at a time. */
const sliceMs = 10

async function verifyParts(
  parts: AsyncGenerator<BundlePart>,
  header: BundleHeader,
  { onContent, onProgress, signal }: VerifyBundleOptions,
): Promise<void> {
  const frontier = header.frontier.map((hash) => Buffer.from(hash, 'base64'))
  const needs = createNeeds()
  let turnedMs = performance.now()
  let [size, blobs, bytes, versions, isProven, place] = [header.since, 0, 0, 0, false, 0]
  for await (const part of parts) {
    signal?.throwIfAborted()
    if (part.kind === 'log') {
      for (const entry of part.entries) {
        versions += readEntry(entry, size + 1, needs)
        appendLeaf(frontier, size, hashLeaf(entry))
        size += 1
        if (performance.now() - turnedMs < sliceMs) continue
        await setImmediate()
        turnedMs = performance.now()
      }
    } else if (part.kind === 'blob') {
      if (!isProven) requireRoot(header, frontier)
      isProven = true
      place = takeBlob(part, needs, place)
      onContent?.(part.digest)
      bytes += part.bytes.length
      if (bytes > header.counts.bytes) throw damaged('it has more content than it says')
      onProgress?.({ done: ++blobs, total: header.counts.blobs })
    }
  }
  if (!isProven) requireRoot(header, frontier)
  if (bytes !== header.counts.bytes || versions !== header.counts.versions) throw damaged('its counts are wrong')
}

/** Notes the content that an entry names. Returns 1 for a version, 0 for what has no content. */
function readEntry(text: string, seq: number, needs: Needs): number {
  const entry = parseEntry(text)
  if (!entry || entry.seq !== seq) throw damaged(`its entry ${seq} is none of a log, or not where it belongs`)
  if (entry.type !== 'version') return 0
  needs.add(entry)
  return 1
}

interface EntryShape {
  readonly seq: number
  readonly type: string
  readonly digest: string | null
  readonly data: Readonly<Record<string, unknown>>
}

function parseEntry(text: string): EntryShape | undefined {
  try {
    const value = parseForeignJson(text) as EntryShape
    // One text for one value, or the leaf of what is read here would be another than the one that was signed.
    return canonicalize(value) === text && typeof value?.data === 'object' && value.data !== null ? value : undefined
  } catch {
    return undefined
  }
}

function requireRoot({ until, checkpoint, origin }: BundleHeader, frontier: readonly Buffer[]): void {
  const [, , rootHash] = checkpoint.split('\n')
  if (toRoot(frontier).toString('base64') === rootHash) return
  throw damaged(`its entries are not the ${until} that ${origin} signed`)
}

/** Returns its place, after that of the one before: there is one order, so that one content makes one file. */
function takeBlob({ digest, bytes }: Extract<BundlePart, { kind: 'blob' }>, needs: Needs, before: number): number {
  if (toDigest(bytes) !== digest) throw damaged(`the content ${digest} was altered`)
  if (needs.isList(digest)) needs.readList(digest, bytes)
  const place = needs.placeOf(digest)
  if (place === undefined) throw damaged(`no entry names the content ${digest}`)
  if (place === before) throw damaged(`the content ${digest} is there twice`)
  if (place < before) throw damaged(`the content ${digest} is not in its place`)
  return place
}
