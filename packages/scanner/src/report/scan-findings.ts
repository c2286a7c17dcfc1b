import { severities, signals, type ScanFinding, type Security, toTimestamp } from '@skillstead/protocol'
import type { Document } from '../text/document.ts'
import type { FileRole } from '../files/role.ts'
import type { RuleHead } from '../rules/load-rules.ts'
import { toRisk, toScore, toVerdict } from '../verdict/score.ts'
import { findReason, type Suppression } from '../verdict/suppress.ts'
import { placeIn, weighMatch, type Place } from '../verdict/weigh-match.ts'

/** Maximum number of listed findings per rule and signal: findings of one signal never displace those of another. */
const findingsMax: Record<ScanFinding['signal'], number> = { hostile: 20, suspicious: 20, power: 5, none: 5 }

/** A file during its scan. */
export interface Subject {
  readonly index: number
  readonly path: string
  readonly of: object
  readonly role: FileRole
  readonly document: Document
  readonly suppressions: readonly Suppression[]
}

/** The findings of a scan, with what was not scanned. */
export class ScanFindings {
  readonly #findings: PlacedFinding[] = []
  readonly #listed = new Map<string, number>()
  /** For each file of the skill and each kind of finding, the index of the file's first text with such a finding. */
  readonly #firsts = new Map<object, Map<string, number>>()
  readonly #cut: Security['cut'] = []

  /** Records a part that was not scanned, and the reason as a sentence. */
  cutAt(path: string, reason: string): void {
    this.#cut.push({ path, reason })
  }

  /** Adds a finding, unless the list of its kind is full. Returns its signal. Default of `place`: the whole file. */
  add(
    rule: RuleHead,
    subject: Subject,
    offset: number,
    decoded: readonly string[] = [],
    place: Place = placeIn(subject.role),
  ): ScanFinding['signal'] {
    const { document, path, role } = subject
    const { signal, severity } = weighMatch(rule, place)
    const kind = `${rule.id} ${signal}`
    const line = document.toLine(offset)
    const reason = findReason(subject.suppressions, rule.id, line)
    if (this.#isKnown(subject, `${kind} ${reason === undefined}`)) return signal
    const listed = this.#listed.get(kind) ?? 0
    this.#listed.set(kind, listed + 1)
    if (listed === findingsMax[signal])
      this.#cut.push({ path, reason: `Only ${listed} findings of ${rule.id} are listed.` })
    if (listed >= findingsMax[signal]) return signal
    this.#findings.push({
      file: subject.index,
      finding: {
        ruleId: rule.id,
        category: rule.category,
        severity,
        title: rule.title,
        path,
        line,
        column: offset - document.lineStart(line) + 1,
        excerpt: toExcerpt(document.text, offset),
        remediation: rule.remediation,
        signal,
        context: { role, polarity: place.stance.polarity },
        decoded: [...decoded],
        suppressed: reason === undefined ? null : { reason },
      },
    })
    return signal
  }

  /** Whether another reading of the same file already has a finding of this kind. */
  #isKnown({ index, of }: Subject, kind: string): boolean {
    const firsts = this.#firsts.get(of) ?? new Map<string, number>()
    this.#firsts.set(of, firsts)
    const first = firsts.get(kind) ?? index
    firsts.set(kind, first)
    return first !== index
  }

  /** The report. `firstPath`: the file at which findings that are not listed are reported. */
  toSecurity(now: number, rulesVersion: string, firstPath: string): Security {
    const all = this.#findings.map(({ finding }) => finding)
    const { findings, unlisted } = listFindings(this.#findings)
    const reason = `${unlisted} findings in all files, the least grave, are not listed.`
    return {
      score: toScore(all),
      verdict: toVerdict(all),
      risk: toRisk(all),
      findings,
      cut: unlisted > 0 ? [...this.#cut, { path: firstPath, reason }] : this.#cut,
      rulesVersion,
      scannedAt: toTimestamp(now),
    }
  }
}

const excerptCharactersMax = 160

/** The text from an offset to the end of the line; U+FFFD replaces each invisible character, which keeps positions. */
function toExcerpt(text: string, offset: number): string {
  const [line = ''] = text.slice(offset, offset + excerptCharactersMax).split(/[\r\n]/, 1)
  return line.replace(unshownPattern, '\uFFFD').toWellFormed()
}

const unshownPattern = /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu

/** Maximum number of findings in a report, because the report is sent with every version in a list. */
const listedMax = 200

/** A finding with the index of its file. */
interface PlacedFinding {
  readonly file: number
  readonly finding: ScanFinding
}

/** The findings of a report in order of location; if there are too many, the most severe ones. */
export function listFindings(all: readonly PlacedFinding[]): { findings: ScanFinding[]; unlisted: number } {
  const worst = all.length > listedMax ? all.toSorted(compareWeight).slice(0, listedMax) : all
  return { findings: worst.toSorted(comparePlace).map(({ finding }) => finding), unlisted: all.length - worst.length }
}

function compareWeight({ finding: a }: PlacedFinding, { finding: b }: PlacedFinding): number {
  return (
    signals.indexOf(a.signal) - signals.indexOf(b.signal) ||
    severities.indexOf(a.severity) - severities.indexOf(b.severity)
  )
}

function comparePlace(a: PlacedFinding, b: PlacedFinding): number {
  return a.file - b.file || a.finding.line - b.finding.line || a.finding.column - b.finding.column
}
