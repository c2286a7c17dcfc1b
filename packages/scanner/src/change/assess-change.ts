import { keysOf, type Access, type Change, type ChangeFinding, type ScanFinding } from '@skillstead/protocol'
import { isPatch } from '../access/compare-access.ts'
import { toVerdict } from '../verdict/score.ts'
import { findAbilities } from './abilities.ts'
import { changeRules, type ChangeRuleId } from './change-rules.ts'
import { hashCharacters, type Outline, type Passage } from './outline.ts'

/** A version with its outline, access lists and findings. */
export interface ComparedVersion {
  readonly version: string
  readonly access: Access
  /** The findings of the version's scan. */
  readonly findings: readonly ScanFinding[]
  readonly outline: Outline
}

/** Maximum number of items of a finding; the last item counts the rest. */
const itemsMax = 20
/** A version that keeps less than this share of the earlier lines is rewritten. One line may always differ. */
const keptShareMin = 0.9
/** Minimum similarity at which two restrictions count as the same restriction in other words. */
const rewordedMin = 0.5

/**
 * The verdict on what a version adds to an earlier one, or removes. Pure: it depends only on the content of the two
 * versions and on their numbers.
 */
export function assessChange(earlier: ComparedVersion, later: ComparedVersion): Change {
  const patch = isPatch(earlier.version, later.version)
  const added = findAdded(earlier, later)
  const findings = [...toScanFindings(added), ...listChanges(earlier, later, patch)]
  const isSuspicious = findings.some(({ signal }) => signal === 'suspicious')
  const ofScan = toVerdict(added)
  return { since: earlier.version, patch, verdict: ofScan === 'safe' && isSuspicious ? 'caution' : ofScan, findings }
}

/** The alarming findings of the later version that the earlier one does not have, wherever they are in its files. */
function findAdded(earlier: ComparedVersion, later: ComparedVersion): ScanFinding[] {
  const had = new Set(earlier.findings.map(toFindingKey))
  return later.findings.filter(
    (finding) => (finding.signal === 'hostile' || finding.signal === 'suspicious') && !had.has(toFindingKey(finding)),
  )
}

function toFindingKey({ ruleId, signal, excerpt }: ScanFinding): string {
  return `${ruleId}\n${signal}\n${excerpt}`
}

function toScanFindings(added: readonly ScanFinding[]): ChangeFinding[] {
  const bySignal = Map.groupBy(added, ({ signal, suppressed }) =>
    suppressed && signal !== 'hostile' ? 'power' : signal,
  )
  return [...bySignal].map(([signal, found]) => {
    const { path, line } = found[0]!
    const items = found.map(({ title, excerpt }) => `${title}: ${excerpt}`)
    return { ...toFinding('adds-findings', items, false), signal, path, line }
  })
}

function listChanges(earlier: ComparedVersion, later: ComparedVersion, patch: boolean): ChangeFinding[] {
  const before = findAbilities(earlier.access, earlier.findings)
  const after = findAbilities(later.access, later.findings)
  const { outline } = later
  const lines = { earlier: toHashes(earlier.outline), later: toHashes(outline) }
  // Whether nearly all lines of the earlier version are in the later one; added lines do not count.
  const [kept, { size }] = [countCommon(lines.earlier, lines.later), lines.earlier]
  const isKept = kept > 0 && kept >= Math.min(size - 1, keptShareMin * size)
  const inserted = isKept ? outline.directives.filter(({ hash }) => !lines.earlier.has(hash)) : []
  const removed = earlier.outline.safeguards.filter(({ hash }) => !lines.later.has(hash))
  const [{ path, line } = { path: null, line: null }] = inserted
  const hasSecrets = after.secrets.length + after['credential-stores'].length > 0
  return [
    ...findGained(before, after).map(([id, items]) => toFinding(id, items, patch)),
    toFinding('reaches-other-hosts', hasSecrets ? findOtherHosts(earlier, later) : [], patch && isKept),
    { ...toFinding('adds-instructions', toPassageTexts(inserted), patch), path, line },
    toFinding('adds-binary', findBinaries(earlier.outline, outline), patch),
    // A rewritten text words or places its restrictions differently, so that a removal counts less.
    toFinding('removes-safeguards', toPassageTexts(dropReworded(removed, outline.safeguards)), patch && isKept),
    toFinding('not-compared', [...findNew(outline, earlier.outline), ...findNew(later.access, earlier.access)], patch),
  ].filter(({ items }) => items.length > 0)
}

function toFinding(ruleId: ChangeRuleId, items: readonly string[], patch: boolean): ChangeFinding {
  const { inPatch, inOther, ...rule } = changeRules[ruleId]
  const rest = items.length - itemsMax
  const shown = rest > 0 ? [...items.slice(0, itemsMax - 1), `${rest + 1} more`] : [...items]
  return { ruleId, ...rule, signal: patch ? inPatch : inOther, items: shown, path: null, line: null }
}

type Abilities = ReturnType<typeof findAbilities>

/** The rules for the abilities that only the later version has, with the evidence for each. */
function findGained(before: Abilities, after: Abilities): (readonly [ChangeRuleId, readonly string[]])[] {
  const gained = keysOf(after).filter((one) => after[one].length > 0 && before[one].length === 0)
  const together = gained.filter((ability) => /^(?:secrets|credential-stores|network)$/.test(ability))
  const isBoth = together.length > 1 && together.includes('network')
  const single = isBoth ? gained.filter((ability) => !together.includes(ability)) : gained
  return [
    ...(isBoth ? [['gains-secrets-and-network', together.flatMap((ability) => after[ability])] as const] : []),
    ...single.map((ability) => [`gains-${ability}`, after[ability]] as const),
  ]
}

/** The later version's hosts in domains that the earlier one does not use; none if the earlier one has no host. */
function findOtherHosts(earlier: ComparedVersion, later: ComparedVersion): string[] {
  const known = new Set(['localhost', ...earlier.access.hosts].map(toDomain))
  return known.size === 1 ? [] : later.access.hosts.filter((host) => !known.has(toDomain(host)))
}

/** The last two labels of a host: enough to tell `api.github.com` from another owner's host in most cases. */
function toDomain(host: string): string {
  return /^[\d.]+$/.test(host) ? host : host.split('.').slice(-2).join('.')
}

function countCommon(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let count = 0
  for (const item of one) if (other.has(item)) count++
  return count
}

function toHashes({ lines }: Outline): Set<string> {
  const count = lines.length / hashCharacters
  return new Set(Array.from({ length: count }, (_, i) => lines.slice(i * hashCharacters, (i + 1) * hashCharacters)))
}

function findBinaries(earlier: Outline, later: Outline): string[] {
  const known = new Set(earlier.binaries.flatMap(({ path, digest }) => [path, digest]))
  return later.binaries.filter(({ path, digest }) => !known.has(path) && !known.has(digest)).map(({ path }) => path)
}

/** The removed restrictions that the later version does not have in other words. */
function dropReworded(removed: readonly Passage[], present: readonly Passage[]): readonly Passage[] {
  if (removed.length === 0) return removed
  const others = present.map(({ text }) => toWordSet(text))
  return removed.filter(({ text }) => {
    const words = toWordSet(text)
    // The similarity is the share of common words in the smaller text.
    return !others.some(
      (other) => countCommon(words, other) / Math.max(1, Math.min(words.size, other.size)) >= rewordedMin,
    )
  })
}

function toWordSet(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu))
}

/** The unread parts of a version that the earlier version does not have. */
function findNew({ cut }: { readonly cut: readonly string[] }, earlier: { readonly cut: readonly string[] }): string[] {
  return cut.filter((item) => !earlier.cut.includes(item))
}

const toPassageTexts = (passages: readonly Passage[]) => passages.map(({ text }) => text)
