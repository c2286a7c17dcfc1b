import { createHash } from 'node:crypto'
import { isBlocked, isFlagged, isLexical, toFamilyMeans, type Judged, type Sample } from './scan-samples.ts'
import { readWholeSkills } from './scan-paraphrases.ts'
import { judgeByGroup } from './scan-sources.ts'

const familyGroups = 5

/** Prints the results of all rules, and those without what only the sample's own source or group of families supports. */
export function printValidation(judged: readonly Judged[]): void {
  const toGroup = ({ family }: Sample) =>
    `${createHash('sha256').update(family).digest().readUInt32BE() % familyGroups}`
  const bySource = toSummary(judgeByGroup(judged, ({ source }) => source.repo))
  const unseen = readWholeSkills('unseen').filter(({ label }) => label === 'malicious')
  const bySupported = toSummary(
    judgeByGroup(
      judged,
      ({ source }) => source.repo,
      unseen.map(({ files }) => files),
    ),
  )
  const byFamily = toSummary(judgeByGroup(judged, toGroup))
  const rows = Object.entries(toSummary(judged)).map(([name, fitted]) => {
    const row = {
      fitted,
      'own source withheld': bySource[name],
      'unless the unseen set supports it': bySupported[name],
      'own families withheld': byFamily[name],
    }
    return [name, row] as const
  })
  console.log(
    `\nWithout the rules and entries that only the same source, or one of ${familyGroups} groups of families, supports`,
  )
  console.table(Object.fromEntries(rows))
}

function toSummary(judged: readonly Judged[]): Record<string, string> {
  const lexical = judged.filter(({ sample }) => isLexical(sample))
  const of = (label: Sample['label']) => judged.filter(({ sample }) => sample.label === label)
  const means = toFamilyMeans(lexical)
  const names = [...new Set(lexical.flatMap(({ sample }) => sample.categories))].toSorted()
  return {
    'lexical, flagged': toShare(lexical, isFlagged),
    [`mean over ${means.families} families`]: means.flagged.toFixed(3),
    'lexical, blocked': toShare(lexical, isBlocked),
    'benign, flagged': toShare(of('benign'), isFlagged),
    'of vendors, flagged': toShare(of('benign-vendor'), isFlagged),
    'benign or of vendors, blocked': toShare([...of('benign'), ...of('benign-vendor')], isBlocked),
    ...Object.fromEntries(
      names.map((name) => {
        const ofCategory = lexical.filter(({ sample }) => sample.categories.includes(name))
        return [name, toShare(ofCategory, isFlagged)] as const
      }),
    ),
  }
}

function toShare(all: readonly Judged[], isHit: (one: Judged) => boolean): string {
  const hits = all.filter(isHit).length
  return `${(hits / all.length).toFixed(3)} (${hits} of ${all.length})`
}
