import { RegistryError, firstIssueOnly, limits, parseForeignJson, attempt, toFields } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import * as v from 'valibot'
import type { Filters } from '../types.ts'

/** The value of the header field `format`. */
export const bundleFormat = 'skillstead-bundle'
/** The version of the format. Readers reject other versions. */
export const bundleVersion = 1

/** The names of a bundle's parts, in the order of the file. `log/` and `blobs/` contain any number of parts. */
export const headerName = 'bundle.json'
export const signatureName = 'bundle.sig'
export const logFolder = 'log/'
export const blobFolder = 'blobs/'

/** Limits for reading a bundle. Bundles that this program creates stay below them. */
export const bundleLimits = {
  headerBytesMax: 1024 * 1024,
  /** Maximum number of JSON values in the header; most of them are in the lists of the filters. */
  headerValuesMax: 20_000,
  /** Maximum size of the signature: room for all signature lines that a signed note may have. */
  signatureBytesMax: 16 * 1024,
  /** Maximum size of one part of the log. A part has at least one entry. */
  logPartBytesMax: 4 * 1024 * 1024,
  logPartEntriesMax: 1000,
  blobBytesMax: limits.fileBytesMax,
} as const

const Whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const Texts = v.array(v.string())
const Keys = v.pipe(Texts, v.minLength(1), v.maxLength(16))

const FiltersSchema = v.strictObject({
  owners: v.optional(Texts),
  names: v.optional(Texts),
  keywords: v.optional(Texts),
  categories: v.optional(Texts),
  licenses: v.optional(Texts),
  verified: v.optional(v.boolean()),
  minSecurityScore: v.optional(v.number()),
  sizeMax: v.optional(v.number()),
})

const Header = v.strictObject({
  format: v.literal(bundleFormat),
  version: v.literal(bundleVersion),
  /** Name and epoch of the log. */
  origin: v.pipe(v.string(), v.minLength(1)),
  epoch: Whole,
  /** The bundle contains the entries after `since` up to `until`. */
  since: Whole,
  until: Whole,
  /**
   * The frontier of the first `since` entries, base64: the subtree roots from which the Merkle tree grows to the
   * checkpoint's root.
   */
  frontier: v.array(v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/))),
  /** The signed checkpoint of the first `until` entries. */
  checkpoint: v.string(),
  /**
   * The verifier keys that the log's node used when the bundle was created. The bundle does not prove them: compare
   * them with the keys that the node publishes.
   */
  keys: Keys,
  /** Set only if a mirror created the bundle and signed its header: the mirror's name and verifier keys. */
  maker: v.optional(v.strictObject({ name: v.pipe(v.string(), v.minLength(1)), keys: Keys })),
  /** The filters. Versions that do not pass them are in the log, but without content. */
  filters: FiltersSchema,
  createdAt: v.pipe(v.string(), v.isoTimestamp()),
  counts: v.strictObject({
    entries: Whole,
    /** `versions`: number of version entries. `complete`: number of those with all their content in the bundle. */
    versions: Whole,
    complete: Whole,
    blobs: Whole,
    /** Total size of the blobs in bytes. */
    bytes: Whole,
  }),
})

/** The header of a bundle: its first part, which describes its contents and is signed. */
export interface BundleHeader extends Omit<v.InferOutput<typeof Header>, 'filters'> {
  readonly filters: Filters
}

/** The header as one line of canonical JSON (RFC 8785), which is the text that is signed. */
export function toHeaderText(header: BundleHeader): string {
  return `${canonicalize(header)}\n`
}

/** Parses and validates the header. Throws `invalid_request`. */
export function parseBundleHeader(text: string): BundleHeader {
  const value = attempt(() => parseForeignJson(text, { valuesMax: bundleLimits.headerValuesMax }))
  const { format, version } = toFields(value)
  if (format !== bundleFormat) throw noBundle('its header has another format')
  if (version !== bundleVersion) {
    const sentence = `This bundle has version ${String(version)}, but this program reads version ${bundleVersion}.`
    throw new RegistryError('invalid_request', `${sentence} Update Skillstead to import it.`)
  }
  const { success, output, issues } = v.safeParse(Header, value, firstIssueOnly)
  if (!success) throw damagedBundle(`its ${headerName} has an invalid field '${v.getDotPath(issues[0]) ?? ''}'`)
  const header: BundleHeader = output
  if (toHeaderText(header) !== text) throw damagedBundle(`its ${headerName} is not canonical JSON`)
  const { origin, since, until, frontier, maker, counts } = header
  if (maker?.name === origin) throw damagedBundle('its header names the node itself as the mirror that created it')
  if (since > until || counts.entries !== until - since) throw damagedBundle('its positions contradict each other')
  if (counts.complete > counts.versions || counts.versions > counts.entries)
    throw damagedBundle('its counts contradict each other')
  if (frontier.length !== countBits(since))
    throw damagedBundle(`its frontier does not belong to a log of ${since} entries`)
  return header
}

/** The command that creates a bundle of the entries after `since`: on a mirror, of the log of `upstream`. */
export function toCreateCommand({ since, upstream }: { since: number; upstream?: string | undefined }): string {
  return `skillstead bundle create FILE ${upstream === undefined ? '' : `--upstream ${upstream} `}--since ${since}`
}

/** The error for a file that is not a bundle. */
export function noBundle(why: string): RegistryError {
  return new RegistryError('invalid_request', `This file is not a bundle: ${why}.`)
}

/** The error for a bundle that was damaged or altered. */
export function damagedBundle(why: string): RegistryError {
  return new RegistryError('invalid_request', `The bundle is damaged: ${why}. Copy it again, or create it again.`)
}

function countBits(size: number): number {
  let bits = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2
  return bits
}
