import { toRate, type Judged } from './scan-samples.ts'

const bands = [
  [80, 100],
  [40, 79],
  [0, 39],
] as const

/** Prints what a score means: the share of malicious samples among those with a score of each band. */
export function printBands(judged: readonly Judged[]): void {
  const rows = bands.map(([least, most]) => {
    const found = judged.filter(({ score }) => score >= least && score <= most)
    const hits = found.filter(({ sample }) => sample.label === 'malicious').length
    return [`${least} to ${most}`, { samples: found.length, malicious: toRate(hits, found.length) }] as const
  })
  console.log('\nMalicious samples by score')
  console.table(Object.fromEntries(rows))
}
