import { severities, signals, type ScanFinding } from '@skillstead/protocol'

/** How many findings a report lists in all: it is sent with every version in a list. */
const listedMax = 200

/** A finding with the number of its file. */
export interface PlacedFinding {
  readonly file: number
  readonly finding: ScanFinding
}

/** The findings that a report lists, in the order of their places; where there are too many the worst of them. */
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
