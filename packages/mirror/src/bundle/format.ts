import { RegistryError, firstIssueOnly, limits, parseForeignJson } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import * as v from 'valibot'
import type { Filters } from '../types.ts'

/** What the first field of every bundle says. */
export const bundleFormat = 'skillstead-bundle'
/** Readers refuse any other: a later program may write what this one would not understand. */
export const bundleVersion = 1

/** The names of what is in a bundle, in this order; `log/` and `blobs/` stand for any number of parts. */
export const headerName = 'bundle.json'
export const signatureName = 'bundle.sig'
export const logFolder = 'log/'
export const blobFolder = 'blobs/'

/** The bounds of what is read; whatever is larger was made by nobody honest. */
export const bundleLimits = {
  headerBytesMax: 1024 * 1024,
  /** Most of them in the lists of the filters. */
  headerValuesMax: 20_000,
  /** As many lines as a note may have. */
  signatureBytesMax: 16 * 1024,
  /** A part of the log is closed before it would pass this; it has one entry at least. */
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
  /** The name and epoch of the log. */
  origin: v.pipe(v.string(), v.minLength(1)),
  epoch: Whole,
  /** The entries in it are those after `since`, up to `until`. */
  since: Whole,
  until: Whole,
  /** What the tree of the first `since` entries grows from, base64: with the entries it leads to the checkpoint's root. */
  frontier: v.array(v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/))),
  /** Of the first `until` entries. */
  checkpoint: v.string(),
  /** The verifier keys that sign at present, to be compared with what is known of the node: none proves itself. */
  keys: Keys,
  /** The mirror that wrote it, where its own node did not, and that mirror's verifier keys: the header is signed by it. */
  maker: v.optional(v.strictObject({ name: v.pipe(v.string(), v.minLength(1)), keys: Keys })),
  /** Versions that do not pass them are in the log alone. */
  filters: FiltersSchema,
  createdAt: v.pipe(v.string(), v.isoTimestamp()),
  counts: v.strictObject({
    entries: Whole,
    /** The entries of versions, and how many of these have all of their content here. */
    versions: Whole,
    complete: Whole,
    blobs: Whole,
    /** Of the blobs together. */
    bytes: Whole,
  }),
})

/** What a bundle says of itself: its first part. */
export interface BundleHeader extends Omit<v.InferOutput<typeof Header>, 'filters'> {
  readonly filters: Filters
}

/** The header as canonical JSON (RFC 8785) in a line: the text that is signed. */
export function toHeaderText(header: BundleHeader): string {
  return `${canonicalize(header)}\n`
}

/** Reads the first part of a bundle. Throws `invalid_request`. */
export function parseHeader(text: string): BundleHeader {
  const value = parseJson(text)
  const { format, version } = (value ?? {}) as { format?: unknown; version?: unknown }
  if (format !== bundleFormat) throw noBundle('its first part does not say so')
  if (version !== bundleVersion) {
    const sentence = `This bundle is of version ${String(version)}, and this program reads version ${bundleVersion}.`
    throw new RegistryError('invalid_request', `${sentence} Update Skillstead to import it.`)
  }
  const { success, output, issues } = v.safeParse(Header, value, firstIssueOnly)
  if (!success) throw damaged(`its ${headerName} says something wrong in '${v.getDotPath(issues[0]) ?? ''}'`)
  const header = output as BundleHeader
  if (toHeaderText(header) !== text) throw damaged(`its ${headerName} is not canonical JSON`)
  const { origin, since, until, frontier, maker, counts } = header
  if (maker?.name === origin) throw damaged('it says that a mirror wrote it, which is the node itself')
  if (since > until || counts.entries !== until - since) throw damaged('its positions do not fit together')
  if (counts.complete > counts.versions || counts.versions > counts.entries) throw damaged('its counts do not fit')
  if (frontier.length !== countBits(since)) throw damaged(`its frontier is not that of ${since} entries`)
  return header
}

/** The command that makes the bundle after a position; a mirror says of which upstream it is to be. */
export function toCreateCommand({ since, upstream }: { since: number; upstream?: string | undefined }): string {
  return `skillstead bundle create FILE ${upstream === undefined ? '' : `--upstream ${upstream} `}--since ${since}`
}

/** A file that is none at all. */
export function noBundle(why: string): RegistryError {
  return new RegistryError('invalid_request', `This file is no bundle: ${why}.`)
}

/** A bundle that lost or changed something on its way, or was never right. */
export function damaged(why: string): RegistryError {
  return new RegistryError('invalid_request', `The bundle is damaged: ${why}. Copy it again, or have it made again.`)
}

function parseJson(text: string): unknown {
  try {
    return parseForeignJson(text, { valuesMax: bundleLimits.headerValuesMax })
  } catch {
    return undefined
  }
}

function countBits(size: number): number {
  let bits = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2
  return bits
}
