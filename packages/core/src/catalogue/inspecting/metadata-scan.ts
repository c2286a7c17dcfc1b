import { RegistryError, type ScanFinding, type Security, type Warning } from '@skillstead/protocol'
import { type ScanFile, toRisk, toRulesVersion, toScore, toVerdict, worstRisk, worstVerdict } from '@skillstead/scanner'
import { toDigest } from '@skillstead/skill-format/archives'
import { LRUCache } from 'lru-cache'
import { parseJson, type SkillRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { type StoredScan, toStoredScan } from '../versions/inspection.ts'
import { scanInThread } from './inspection-threads.ts'
import type { PackageFields } from '../versions/package-fields.ts'
import type { ScanRules } from '../context/scan-rules.ts'
import { findAlarming, toPolicyAction, toScanErrors, toScanWarnings } from '../context/scan-policy.ts'

/** The text columns of a skill that readers see. */
type Described = Pick<
  SkillRow,
  'name' | 'display_name' | 'description' | 'category' | 'license' | 'keywords' | 'deprecation_message'
>

/** The stored form in `skills.metadata_scan`: the findings, and the digest of the texts and the rules. */
interface MetadataScan {
  readonly of: string
  readonly findings: readonly ScanFinding[]
}

/**
 * Scans the metadata of a skill and the changelog of its latest version. Returns `stored` unchanged if neither the
 * texts nor the rules changed.
 */
export async function scanMetadata(
  { scanRules }: Pick<CatalogueContext, 'scanRules'>,
  stored: string,
  skill: Described,
  { changelog, at }: { changelog: string; at: number },
): Promise<string> {
  const texts = toMetadataTexts(skill, changelog)
  const of = toDigest(Buffer.from(JSON.stringify([scanRules.version, texts])))
  if (stored !== '' && parseMetadataScan(stored).of === of) return stored
  return JSON.stringify({ of, findings: await findInTexts(scanRules, texts, at) } satisfies MetadataScan)
}

/** The texts of a new skill with the metadata of a package. */
export function toPackageTexts({ name, metadata }: PackageFields, changelog = ''): Texts {
  const { displayName, description, license, category = '', keywords } = metadata
  const own = { name, display_name: displayName, description, license, category, deprecation_message: '' }
  return toMetadataTexts({ ...own, keywords: JSON.stringify(keywords) }, changelog)
}

/** Combines the scans of a version's content and of the skill's metadata. */
export function joinScans(content: Security, metadataScan: string): Security {
  const found = metadataScan === '' ? [] : parseMetadataScan(metadataScan).findings
  const added = found.filter((finding) => !content.findings.some((other) => isSameFinding(other, finding)))
  if (added.length === 0) return content
  const findings = [...content.findings, ...added]
  return {
    ...content,
    score: Math.min(content.score, toScore(findings)),
    verdict: worstVerdict(content.verdict, toVerdict(findings)),
    risk: worstRisk(content.risk, toRisk(findings)),
    findings,
  }
}

/** As {@link joinScans} for a scan in its stored form. */
export function joinStoredScan(content: StoredScan, metadataScan: string): StoredScan {
  if (metadataScan === '' || parseMetadataScan(metadataScan).findings.length === 0) return content
  const security = parseJson(content.report)
  const joined = joinScans(security, metadataScan)
  return joined === security ? content : toStoredScan(joined)
}

/**
 * The warnings about the texts that an update changed. Throws `invalid_skill` if the policy would quarantine or refuse
 * a version with these findings.
 */
export async function requireMetadata(
  { scanPolicy }: Pick<CatalogueContext, 'scanPolicy'>,
  trx: WriteTransaction,
  { before, after }: { before: SkillRow; after: SkillRow },
): Promise<Warning[]> {
  const [was, is] = [toMetadataTexts(before, ''), toMetadataTexts(after, '')]
  const changed = new Set(Object.keys(is).filter((field) => is[field] !== was[field]))
  const found = parseMetadataScan(after.metadata_scan).findings.filter(({ path }) => changed.has(toTextField(path)))
  if (found.length === 0) return []
  const content = await trx
    .selectFrom('scans')
    .innerJoin('versions', 'versions.id', 'scans.version_id')
    .select('report')
    .where('versions.skill_id', '=', after.id)
    .where('versions.version', '=', after.latest_version)
    .executeTakeFirst()
  const joined = content && joinScans(parseJson(content.report), after.metadata_scan)
  return judgeFindings({ scanPolicy }, found, joined?.verdict)
}

function toMetadataTexts(skill: Described, changelog: string): Texts {
  return {
    description: skill.description,
    displayName: skill.display_name === skill.name ? '' : skill.display_name,
    category: skill.category,
    license: skill.license,
    keywords: parseJson(skill.keywords).join('\n'),
    deprecationMessage: skill.deprecation_message,
    changelog,
  }
}

/** Whether a finding in the metadata repeats a finding in the SKILL.md from which the metadata was read. */
function isSameFinding(inContent: ScanFinding, inMetadata: ScanFinding): boolean {
  if (inContent.path !== 'SKILL.md' || inContent.suppressed) return false
  if (inContent.ruleId !== inMetadata.ruleId || inContent.signal !== inMetadata.signal) return false
  const [a, b] = [inContent.excerpt, inMetadata.excerpt]
  return a !== '' && b !== '' && (a.startsWith(b) || b.startsWith(a))
}

function parseMetadataScan(stored: string): MetadataScan {
  return parseJson<MetadataScan>(stored)
}

/** Text outside files that agents read, by field name. */
export type Texts = Readonly<Record<string, string>>

/** Prefix of the path of a finding in text outside files. No path of a file contains a colon. */
const textPathPrefix = 'metadata:'

/** Findings cached by the digest of texts and rules, because the same texts are scanned for several purposes. */
const scannedTexts = new LRUCache<string, Promise<ScanFinding[]>>({ max: 5000 })

/** Scans texts and returns the findings, which the author cannot suppress. `now`: milliseconds since 1970. */
export async function findInTexts({ added, version }: ScanRules, texts: Texts, now: number): Promise<ScanFinding[]> {
  const files = toScanFiles(texts)
  if (files.length === 0) return []
  const key = toTextsScanKey(files, version)
  const found = scannedTexts.get(key) ?? scanInThread(files, { now, added }).then(toFindings)
  scannedTexts.set(key, found)
  return found
}

/** Caches the scan of texts by a thread, so that {@link findInTexts} does not repeat it in a transaction. */
export function keepScan(texts: Texts, scan: Security): void {
  scannedTexts.set(toTextsScanKey(toScanFiles(texts), scan.rulesVersion), Promise.resolve(toFindings(scan)))
}

/** Whether the findings of {@link findInTexts} with these rules are cached. */
export function hasScan(texts: Texts, version: string): boolean {
  const files = toScanFiles(texts)
  return files.length === 0 || scannedTexts.has(toTextsScanKey(files, version))
}

function toTextsScanKey(files: readonly ScanFile[], version: string): string {
  return toDigest(Buffer.from(JSON.stringify([version, files])))
}

/** The texts as files to scan, in the order of the fields' names. */
export function toScanFiles(texts: Texts): ScanFile[] {
  const given = Object.entries(texts)
    .filter(([, text]) => text !== '')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return given.map(([field, text]) => ({ path: `${textPathPrefix}${field}`, text }))
}

function toFindings({ findings }: Security): ScanFinding[] {
  return findings.filter(({ signal }) => signal !== 'none').map((finding) => ({ ...finding, suppressed: null }))
}

/** The name of the field that a finding in a text is about. */
function toTextField(path: string): string {
  return path.slice(textPathPrefix.length)
}

/**
 * The warnings about findings in texts. Throws `invalid_skill` if the policy would quarantine or refuse a version with
 * these findings. `verdict`: the verdict on the version or record with the texts. Default: the verdict on the findings.
 */
function judgeFindings(
  { scanPolicy }: Pick<CatalogueContext, 'scanPolicy'>,
  findings: readonly ScanFinding[],
  verdict = toVerdict(findings),
): Warning[] {
  const alarming = findAlarming(findings)
  if (alarming.length === 0 || toPolicyAction(scanPolicy, { verdict }) === 'warn') return toScanWarnings({ findings })
  const fields = [...new Set(alarming.map(({ path }) => toTextField(path)))].join(', ')
  const detail = `The scan rates this text ${verdict}, which this registry does not accept. Change ${fields}.`
  throw new RegistryError('invalid_skill', detail, { errors: toScanErrors(alarming) })
}

/**
 * Scans texts before they are stored. Returns `{ warnings }` for the response, or `{}` if there are none. Throws
 * `invalid_skill` as {@link judgeFindings} does.
 */
export async function checkTexts(context: Pick<CatalogueContext, 'scanPolicy' | 'scanRules' | 'clock'>, texts: Texts) {
  const warnings = judgeFindings(context, await findInTexts(context.scanRules, texts, context.clock.now()))
  return warnings.length > 0 ? { warnings } : {}
}

/** Whether a scan with the built-in rules finds texts dangerous; such texts are not shown to a model. */
export async function areDangerous(texts: Texts): Promise<boolean> {
  return toVerdict(await findInTexts({ added: undefined, version: toRulesVersion() }, texts, 0)) === 'dangerous'
}

export function toPackTexts(pack: {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly skills?: readonly { readonly note: string }[] | undefined
}): Texts {
  const notes = (pack.skills ?? []).map(({ note }) => note).filter((note) => note !== '')
  return { name: pack.name ?? '', description: pack.description ?? '', notes: notes.join('\n') }
}
