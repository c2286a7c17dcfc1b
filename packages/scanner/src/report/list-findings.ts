import { severities, signals, type ScanFinding } from '@skillstead/protocol'

/** Maximum number of findings in a report: it is sent with every version in a list. */
const listedMax = 200

/** A finding with the index of its file. */
export interface PlacedFinding {
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
