import { RegistryError, type ScanFinding, type Security, type Warning } from '@skillstead/protocol'
import type { CatalogueContext } from './catalogue-context.ts'
import { toDigest } from '@skillstead/skill-format/archives'
import { type ScanFile, scanPackage, toVerdict } from '@skillstead/scanner'
import { LRUCache } from 'lru-cache'
import { findAlarming, toAction, toScanErrors, toScanWarnings } from './scan-policy.ts'

/** Text outside files that agents read, by field name. */
export type Texts = Readonly<Record<string, string>>

/** Prefix of a finding's path in such a text. No file can have that path, since paths contain no colons. */
const prefix = 'metadata:'

/** The verdicts of texts, by their digests, since the same ones are read often. */
const verdicts = new LRUCache<string, Promise<Security['verdict']>>({ max: 1000 })

/** The findings of a scan in texts. The author cannot suppress them. `now` in milliseconds since 1970. */
export async function findInTexts(texts: Texts, now: number): Promise<ScanFinding[]> {
  const files: ScanFile[] = Object.entries(texts)
    .filter(([, text]) => text !== '')
    .map(([field, text]) => ({ path: `${prefix}${field}`, text }))
  if (files.length === 0) return []
  const { findings } = await scanPackage(files, now)
  return findings.filter(({ signal }) => signal !== 'none').map((finding) => ({ ...finding, suppressed: null }))
}

/** The field of a finding in a text. */
export function toField(path: string): string {
  return path.slice(prefix.length)
}

/**
 * The warnings about findings in texts. Throws `invalid_skill` if the policy would quarantine or refuse a version with
 * them. `verdict`: that of the whole to which the texts belong. Default: that of the findings alone.
 */
export function judgeFindings(
  { scanPolicy }: Pick<CatalogueContext, 'scanPolicy'>,
  findings: readonly ScanFinding[],
  verdict = toVerdict(findings),
): Warning[] {
  const alarming = findAlarming(findings)
  if (alarming.length === 0 || toAction(scanPolicy, { verdict }) === 'warn') return toScanWarnings({ findings })
  const fields = [...new Set(alarming.map(({ path }) => toField(path)))].join(', ')
  throw new RegistryError(
    'invalid_skill',
    `The scan rates this text ${verdict}, which this registry does not accept. Change ${fields}.`,
    { errors: toScanErrors(alarming) },
  )
}

/**
 * Scans texts before they are stored. Returns `{ warnings }` for the response, or nothing if there are none. Throws
 * `invalid_skill` as {@link judgeFindings} does.
 */
export async function checkTexts(
  context: Pick<CatalogueContext, 'scanPolicy' | 'clock'>,
  texts: Texts,
): Promise<{ warnings?: Warning[] }> {
  const warnings = judgeFindings(context, await findInTexts(texts, context.clock.now()))
  return warnings.length > 0 ? { warnings } : {}
}

/** Whether a scan finds texts dangerous; such texts are not shown to a model. */
export async function areDangerous(texts: Texts): Promise<boolean> {
  const key = toDigest(Buffer.from(JSON.stringify(texts)))
  const verdict = verdicts.get(key) ?? findInTexts(texts, 0).then((findings) => toVerdict(findings))
  verdicts.set(key, verdict)
  return (await verdict) === 'dangerous'
}

/** The texts of a pack. */
export function toPackTexts(pack: {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly skills?: readonly { readonly note: string }[] | undefined
}): Texts {
  const notes = (pack.skills ?? []).map(({ note }) => note).filter((note) => note !== '')
  return { name: pack.name ?? '', description: pack.description ?? '', notes: notes.join('\n') }
}
