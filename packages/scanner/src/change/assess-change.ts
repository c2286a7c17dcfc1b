import type { Access, Change, ChangeFinding, ScanFinding } from '@skillstead/protocol'
import { isPatch } from '../access/compare-access.ts'
import { toVerdict } from '../verdict/score.ts'
import { findAbilities, type Ability } from './abilities.ts'
import { changeRules, type ChangeRuleName } from './change-rules.ts'
import { hashCharacters, type Outline, type Passage } from './outline.ts'

/** A version with what is known of its content. */
export interface ComparedVersion {
  readonly version: string
  readonly access: Access
  /** The findings of its scan. */
  readonly findings: readonly ScanFinding[]
  readonly outline: Outline
}

/** Maximum number of items of a finding; the last item counts the rest. */
const itemsMax = 20
/** Minimum share of its lines that a text keeps if only a part was changed; one line may always differ. */
const keptShareMin = 0.9
/** Minimum similarity of two wordings of one restriction. */
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
  const had = new Set(earlier.findings.map(toKey))
  return later.findings.filter(
    (finding) => (finding.signal === 'hostile' || finding.signal === 'suspicious') && !had.has(toKey(finding)),
  )
}

function toKey({ ruleId, signal, excerpt }: ScanFinding): string {
  return `${ruleId}\n${signal}\n${excerpt}`
}

function toScanFindings(added: readonly ScanFinding[]): ChangeFinding[] {
  const bySignal = Map.groupBy(added, ({ signal, suppressed }) =>
    suppressed && signal !== 'hostile' ? 'power' : signal,
  )
  return [...bySignal].map(([signal, found]) => {
    const [{ path, line }] = found as [ScanFinding]
    const items = found.map(({ title, excerpt }) => `${title}: ${excerpt}`)
    return { ...toFinding('addsFindings', items, false), signal, path, line }
  })
}

function listChanges(earlier: ComparedVersion, later: ComparedVersion, patch: boolean): ChangeFinding[] {
  const { outline } = later
  const lines = { earlier: toHashes(earlier.outline), later: toHashes(outline) }
  const isKept = isNearlyWithin(lines.earlier, lines.later)
  const inserted = isKept ? outline.directives.filter(({ hash }) => !lines.earlier.has(hash)) : []
  const removed = earlier.outline.safeguards.filter(({ hash }) => !lines.later.has(hash))
  const [first] = inserted
  const uncompared = [...subtract(outline.cut, earlier.outline.cut), ...subtract(later.access.cut, earlier.access.cut)]
  return [
    ...findGained(earlier, later).map(([name, items]) => toFinding(name, items, patch)),
    toFinding('reachesOthers', findOtherHosts(earlier, later), patch && isKept),
    { ...toFinding('addsInstructions', inserted.map(toText), patch), ...(first && toPlace(first)) },
    toFinding('addsBinary', findBinaries(earlier.outline, outline), patch),
    // A text that was written again words its restrictions in other ways, or has them at other places.
    toFinding('removesSafeguards', dropReworded(removed, outline.safeguards).map(toText), patch && isKept),
    toFinding('notCompared', uncompared, patch),
  ].filter(({ items }) => items.length > 0)
}

function toFinding(name: ChangeRuleName, items: readonly string[], patch: boolean): ChangeFinding {
  const { inPatch, inOther, ...rule } = changeRules[name]
  const rest = items.length - itemsMax
  const shown = rest > 0 ? [...items.slice(0, itemsMax - 1), `${rest + 1} more`] : [...items]
  return { ...rule, signal: patch ? inPatch : inOther, items: shown, path: null, line: null }
}

const gains: Readonly<Record<Ability, ChangeRuleName>> = {
  secrets: 'gainsSecrets',
  stores: 'gainsStores',
  startup: 'gainsStartup',
  privilege: 'gainsPrivilege',
  network: 'gainsNetwork',
  shell: 'gainsShell',
}

/** The abilities that the earlier version does not have. */
function findGained(
  earlier: ComparedVersion,
  later: ComparedVersion,
): (readonly [ChangeRuleName, readonly string[]])[] {
  const [before, after] = [earlier, later].map(({ access, findings }) => findAbilities(access, findings))
  const gained = new Map(
    [...after!].filter(([ability, { length }]) => length > 0 && before!.get(ability)!.length === 0),
  )
  const secrets = [...(gained.get('secrets') ?? []), ...(gained.get('stores') ?? [])]
  const network = gained.get('network') ?? []
  const isBoth = secrets.length > 0 && network.length > 0
  const together: readonly Ability[] = isBoth ? ['secrets', 'stores', 'network'] : []
  const others = [...gained].filter(([ability]) => !together.includes(ability))
  return [
    ...(isBoth ? [['gainsSecretsAndNetwork', [...secrets, ...network]] as const] : []),
    ...others.map(([ability, items]) => [gains[ability], items] as const),
  ]
}

/** The hosts of other domains that a version with secrets newly reaches, if the earlier one reached any. */
function findOtherHosts(earlier: ComparedVersion, later: ComparedVersion): string[] {
  const has = findAbilities(later.access, later.findings)
  if (has.get('secrets')!.length + has.get('stores')!.length === 0) return []
  const known = new Set(['localhost', ...earlier.access.hosts].map(toDomain))
  return known.size === 1 ? [] : later.access.hosts.filter((host) => !known.has(toDomain(host)))
}

/** The last two labels of a host: enough to tell `api.github.com` from another owner's host in most cases. */
function toDomain(host: string): string {
  return /^[\d.]+$/.test(host) ? host : host.split('.').slice(-2).join('.')
}

/** Whether nearly all lines of the earlier version are in the later one; whatever was added does not count. */
function isNearlyWithin(earlier: ReadonlySet<string>, later: ReadonlySet<string>): boolean {
  const kept = countCommon(earlier, later)
  return kept > 0 && kept >= Math.min(earlier.size - 1, keptShareMin * earlier.size)
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

/** The restrictions that no other one in the later version words differently. */
function dropReworded(removed: readonly Passage[], present: readonly Passage[]): readonly Passage[] {
  if (removed.length === 0) return removed
  const others = present.map(({ text }) => toWords(text))
  return removed.filter(({ text }) => {
    const words = toWords(text)
    return !others.some((other) => toSimilarity(words, other) >= rewordedMin)
  })
}

function toWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu))
}

/** The share of common words in the smaller text. */
function toSimilarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  return countCommon(one, other) / Math.max(1, Math.min(one.size, other.size))
}

function subtract(items: readonly string[], others: readonly string[]): string[] {
  return items.filter((item) => !others.includes(item))
}

function toPlace({ path, line }: Passage) {
  return { path, line }
}

function toText({ text }: Passage): string {
  return text
}
