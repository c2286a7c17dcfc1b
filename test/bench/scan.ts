import { createScanPool, scanInThread } from '../../packages/scanner/src/threads/scan-package.ts'
import { workersMax } from '../../packages/scanner/src/threads/worker-pool.ts'
import { scanFiles } from '@skillstead/scanner/rules'
import { printAblation } from './scan-ablation.ts'
import {
  isBenign,
  isLexical,
  judge,
  readReal,
  readSamples,
  readUnseen,
  readWild,
  toRate,
  toRates,
  type Judged,
  type TextFile,
} from './scan-samples.ts'
import { withoutOwnSource } from './scan-validation.ts'

/** Prints what each rule finds in labelled skills, and in real ones if their folder is given. */
export function benchAblation(securityPath: string, corpusDir?: string): void {
  const labelled = [...readSamples(securityPath), ...readWild(securityPath)].map(judge)
  printAblation(labelled, corpusDir ? readReal(corpusDir).map(judge) : [])
}

/** Scans labelled skills, and real ones if there are any, and prints how often the scanner is right and how fast. */
export async function benchScan(securityPath: string, corpusDir?: string): Promise<void> {
  const judged = readSamples(securityPath).map(judge)
  const malicious = judged.filter(({ sample }) => sample.label === 'malicious')
  const benign = judged.filter(({ sample }) => isBenign(sample))
  print(`${judged.length} labelled skills`, {
    'malicious, lexical': malicious.filter(({ sample }) => isLexical(sample)),
    'malicious, semantic': malicious.filter(({ sample }) => !isLexical(sample)),
    ...groupBy(judged, ({ sample }) => sample.label),
    'benign, all': benign,
  })
  const validated = withoutOwnSource(judged).filter(({ sample }) => sample.label === 'malicious')
  print('Malicious ones, by rules that another source supports', {
    all: validated,
    lexical: validated.filter(({ sample }) => isLexical(sample)),
    ...groupBy(validated, ({ sample }) => sample.source),
  })
  const wild = readWild(securityPath).map(judge)
  print(
    `${wild.length} malicious skills of registries, by quality and source`,
    groupBy(wild, ({ sample }) => `${sample.quality} ${sample.source}`),
  )
  print(
    'Whole skills of an author who knew no rule',
    groupBy(readUnseen().map(judge), ({ sample }) => sample.label),
  )
  const real = corpusDir ? readReal(corpusDir).map(judge) : []
  if (corpusDir) print('Skills of registries, nearly all benign', { real })
  printBands(judged)
  await printSpeed(judged.map(({ sample }) => sample.files))
}

function print(title: string, groups: Readonly<Record<string, readonly Judged[]>>): void {
  console.log(`\n${title}`)
  console.table(Object.fromEntries(Object.entries(groups).map(([name, all]) => [name, toRates(all)])))
}

function groupBy(judged: readonly Judged[], toKey: (one: Judged) => string): Record<string, Judged[]> {
  return Object.fromEntries([...Map.groupBy(judged, toKey)].toSorted(([a], [b]) => a.localeCompare(b)))
}

/** What a score means: the share of malicious skills among those with scores of each verdict. */
function printBands(judged: readonly Judged[]): void {
  const bands = [
    [80, 100],
    [40, 79],
    [0, 39],
  ] as const
  const rows = bands.map(([least, most]) => {
    const all = judged.filter(({ score }) => score >= least && score <= most)
    const malicious = all.filter(({ sample }) => sample.label === 'malicious').length
    return [`${least} to ${most}`, { skills: all.length, malicious: toRate(malicious, all.length) }]
  })
  console.log('\nThe share of malicious skills by score')
  console.table(Object.fromEntries(rows))
}

const speedPasses = 8

/** Skill by skill, all rules; the best of some passes, as other work on the machine only slows them. */
async function printSpeed(packages: readonly (readonly TextFile[])[]): Promise<void> {
  const bytes = packages.flat().reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  const toSpeed = (bestMs: number) => `${(bytes / 1000 / bestMs).toFixed(1)} MB/s`
  const alone = await findBest(() => {
    for (const files of packages) scanFiles(files, 0)
  })
  console.log(`\n${toSpeed(alone)} on one thread`)
  const pool = createScanPool()
  const together = await findBest(() => Promise.all(packages.map((files) => scanInThread(files, 0, undefined, pool))))
  console.log(`${toSpeed(together)} over ${workersMax} threads, with what it takes to send them files and reports`)
}

async function findBest(pass: () => unknown): Promise<number> {
  let bestMs = Infinity
  for (let count = 0; count < speedPasses; count++) {
    const start = performance.now()
    await pass()
    bestMs = Math.min(bestMs, performance.now() - start)
  }
  return bestMs
}
