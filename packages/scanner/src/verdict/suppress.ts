import type { Document } from '../text/document.ts'
import { regex } from '../text/regex.ts'

const marker = 'skillstead-ignore'
/** A suppression in a comment of Markdown or HTML, or after `#`, `//`, `--` or `;`; `-file` covers the whole file. */
const pattern = regex`(<!--|#|//|--|;)\s{0,4}skillstead-ignore(?<isFile>-file)?
  \s{1,4}(?<ruleId>[a-z][a-z0-9-]{1,60})\s{0,4}:\s{0,4}(?<reason>\w.{2,300}?)\s{0,4}(-->|$)`

const suppressionsMax = 100

export interface Suppression {
  readonly ruleId: string
  readonly reason: string
  /** The line; 0 for the whole file. */
  readonly line: number
}

/** Finds the comments in which the author declares findings harmless. A suppression without a reason has no effect. */
export function findSuppressions(document: Document): Suppression[] {
  const suppressions: Suppression[] = []
  let at = document.text.indexOf(marker)
  while (at !== -1 && suppressions.length < suppressionsMax) {
    const line = document.toLine(at)
    const found = pattern.exec(document.line(line))
    if (found) {
      const { isFile, ruleId, reason } = found.groups!
      suppressions.push({ ruleId: ruleId!, reason: reason!, line: isFile ? 0 : line })
    }
    at = document.text.indexOf(marker, at + marker.length)
  }
  return suppressions
}

/** The author's reason for a rule at a line: on that line, on the previous line, or for the whole file. */
export function findReason(suppressions: readonly Suppression[], ruleId: string, line: number): string | undefined {
  const found = suppressions.find(
    (each) => each.ruleId === ruleId && (each.line === 0 || each.line === line || each.line === line - 1),
  )
  return found?.reason
}
