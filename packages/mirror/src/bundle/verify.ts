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
import { RegistryError, parseForeignJson, attempt } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import { damagedBundle, type BundleHeader } from './format.ts'
import { createNeeds, type Needs } from './needs.ts'
import { readBundle, type BundlePart } from './read.ts'

/** Options of `verifyBundle`. */
export interface VerifyBundleOptions {
  /** The trusted verifier keys. Default: the bundle's own keys, which prove only that the bundle is complete. */
  readonly keys?: readonly string[]
  /** Called with the digest of each blob, in the order of the file. */
  onContent?(digest: string): void
  /** Called with the progress, counted in blobs. */
  onProgress?(progress: { done: number; total: number }): void
  readonly signal?: AbortSignal
}

/** A bundle that was verified completely. */
export interface VerifiedBundle {
  readonly header: BundleHeader
  /** The keys of the log's node, which signed the checkpoint and, unless a mirror created the bundle, the header. */
  readonly signers: readonly Signer[]
  /** Whether `signers` are among the trusted keys that the caller passed. */
  readonly isTrusted: boolean
  /** The keys of the mirror that created the bundle; empty if the log's own node created it. */
  readonly makers: readonly Signer[]
  /**
   * Whether the mirror's keys are among the trusted keys that the caller passed. Only the mirror proves the time of the
   * bundle and which content was omitted; the log and its content are verified without its keys.
   */
  readonly isMakerTrusted: boolean
  /** When the log's checkpoint was signed, in milliseconds since 1970; undefined if it has no time. */
  readonly signedAt: number | undefined
  /** The keys that sign for the log at present. */
  readonly endorsedKeys: readonly string[]
}

/**
 * Reads a bundle once and verifies its signatures, that its entries lead to the checkpoint's root, and that each blob
 * is named by an entry and matches its digest. Needs no database. Holds in memory one part, and a record per file.
 * Throws `invalid_request` with the first problem.
 */
export async function verifyBundle(file: string, options: VerifyBundleOptions = {}): Promise<VerifiedBundle> {
  const parts = readBundle(file)
  try {
    const first = await parts.next()
    if (first.done || first.value.kind !== 'header') throw damagedBundle('it ends early')
    const verified = verifyHeader(first.value, options.keys)
    await verifyParts(parts, verified.header, options)
    return verified
  } finally {
    await parts.return(undefined)
  }
}

/** Verifies the signatures of the header and its checkpoint. Throws `invalid_request`. */
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
    if (origin !== header.origin)
      throw damagedBundle(`its header names the log ${header.origin}, but its checkpoint ${origin}`)
    if (treeSize !== header.until)
      throw damagedBundle(`it ends at entry ${header.until}, but its checkpoint covers ${treeSize} entries`)
    // The mirror's signature is checked after the checkpoint, so that keys of another log get the clearer error of the
    // checkpoint.
    const makers = maker ? verifyNote(toNote(part), isMakerTrusted ? ofMaker : maker.keys, 'the bundle').signers : []
    const writer = maker?.name ?? origin
    if (!(writers ?? makers).some(({ name }) => name === writer)) throw damagedBundle(`it is not signed by ${writer}`)
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

const changed = 'If the node changed its key, compare the new key with its operator, and pass it with --key.'

/** Maximum time in ms for which the verification of entries may block the event loop. */
const blockMsMax = 10

async function verifyParts(
  parts: AsyncGenerator<BundlePart>,
  header: BundleHeader,
  { onContent, onProgress, signal }: VerifyBundleOptions,
): Promise<void> {
  const frontier = header.frontier.map((hash) => Buffer.from(hash, 'base64'))
  const needs = createNeeds()
  let yieldedMs = performance.now()
  let [size, blobs, bytes, versions, isProven, place] = [header.since, 0, 0, 0, false, 0]
  for await (const part of parts) {
    signal?.throwIfAborted()
    if (part.kind === 'log') {
      for (const entry of part.entries) {
        versions += recordEntryContent(entry, size + 1, needs)
        appendLeaf(frontier, size, hashLeaf(entry))
        size += 1
        if (performance.now() - yieldedMs < blockMsMax) continue
        await setImmediate()
        yieldedMs = performance.now()
      }
    } else if (part.kind === 'blob') {
      if (!isProven) requireRoot(header, frontier)
      isProven = true
      place = takeBlob(part, needs, place)
      onContent?.(part.digest)
      bytes += part.bytes.length
      if (bytes > header.counts.bytes) throw damagedBundle('it has more content than its header states')
      onProgress?.({ done: ++blobs, total: header.counts.blobs })
    }
  }
  if (!isProven) requireRoot(header, frontier)
  if (bytes !== header.counts.bytes || versions !== header.counts.versions)
    throw damagedBundle('its counts do not match its content')
}

/** Records the content that an entry names. Returns 1 for a version, 0 for other entries, which have no content. */
function recordEntryContent(text: string, seq: number, needs: Needs): number {
  const entry = parseBundledEntry(text)
  if (!entry || entry.seq !== seq) throw damagedBundle(`its entry ${seq} is invalid or in the wrong place`)
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

function parseBundledEntry(text: string): EntryShape | undefined {
  const value = attempt(() => parseForeignJson(text) as EntryShape)
  // Only the canonical text is accepted: another text for the same value has another Merkle leaf hash than the signed
  // one.
  const isCanonical = attempt(() => canonicalize(value)) === text
  return isCanonical && typeof value?.data === 'object' && value.data !== null ? value : undefined
}

function requireRoot({ until, checkpoint, origin }: BundleHeader, frontier: readonly Buffer[]): void {
  const [, , rootHash] = checkpoint.split('\n')
  if (toRoot(frontier).toString('base64') === rootHash) return
  throw damagedBundle(`its entries are not the ${until} entries that ${origin} signed`)
}

/**
 * Checks a blob and returns its place, which must be after `before`, the place of the previous blob. Only one order is
 * allowed, so that the same content always makes the same file.
 */
function takeBlob({ digest, bytes }: Extract<BundlePart, { kind: 'blob' }>, needs: Needs, before: number): number {
  if (toDigest(bytes) !== digest) throw damagedBundle(`the blob ${digest} was altered`)
  if (needs.isList(digest)) needs.readList(digest, bytes)
  const place = needs.placeOf(digest)
  if (place === undefined) throw damagedBundle(`no entry names the blob ${digest}`)
  if (place === before) throw damagedBundle(`the blob ${digest} occurs twice`)
  if (place < before) throw damagedBundle(`the blob ${digest} is in the wrong place`)
  return place
}
