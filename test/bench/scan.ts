import { join } from 'node:path'
import type { Security } from '@skillstead/protocol'
import { createScanPool, scanInThread } from '../../packages/scanner/src/threads/scan-package.ts'
import { workersMax } from '../../packages/scanner/src/threads/worker-pool.ts'
import { scanFiles } from '@skillstead/scanner/rules'
import { printAblation } from './scan-ablation.ts'
import {
  isLexical,
  readLines,
  toRate,
  toRates,
  toTexts,
  type Judged,
  type Sample,
  type TextFile,
} from './scan-samples.ts'
import { printBands } from './scan-bands.ts'
import { printParaphrases, printWholeSkills } from './scan-paraphrases.ts'
import { printValidation } from './scan-validation.ts'

/** Prints what each rule adds to the results on labelled skills. */
export function benchAblation(securityPath: string): void {
  printAblation(readLines<Sample>(securityPath).map(judge))
}

/** Scans labelled skills, and skills from the wild if there are any, and prints how often it is right and how fast. */
export async function benchScan(securityPath: string, corpusDir?: string): Promise<void> {
  const judged = readLines<Sample>(securityPath).map(judge)
  const of = (label: Sample['label']) => judged.filter(({ sample }) => sample.label === label)
  console.log(`\nThe scanner on ${judged.length} labelled skills`)
  console.table({
    'malicious, lexical': toRates(judged.filter(({ sample }) => isLexical(sample))),
    'malicious, semantic': toRates(of('malicious').filter(({ sample }) => sample.stratum === 'semantic')),
    suspicious: toRates(of('suspicious')),
    benign: toRates(of('benign')),
    'benign, of vendors': toRates(of('benign-vendor')),
    'benign, all': toRates([...of('benign'), ...of('benign-vendor')]),
  })
  printBands(judged)
  printValidation(judged)
  printParaphrases()
  printWholeSkills()
  if (corpusDir) benchWild(corpusDir)
  await benchSpeed(judged.map(({ sample }) => toTexts(sample)))
}

function judge(sample: Sample): Judged {
  const { verdict, findings, score } = scanFiles(toTexts(sample), 0)
  return { sample, verdict, findings, score }
}

function benchWild(corpusDir: string): void {
  const records = readLines<{ skillMd: string; files: readonly { path: string; text?: string }[] }>(
    join(corpusDir, 'open.ndjson.gz'),
  )
  const verdicts = records.map(({ skillMd, files }) => {
    const texts = files.flatMap(({ path, text }) => (text === undefined ? [] : [{ path, text }]))
    return scanFiles([{ path: 'SKILL.md', text: skillMd }, ...texts], 0).verdict
  })
  const rate = (verdict: Security['verdict']) =>
    toRate(verdicts.filter((each) => each === verdict).length, verdicts.length)
  console.log(`\nOf ${records.length} skills from the wild, nearly all benign`)
  console.table({ caution: rate('caution'), dangerous: rate('dangerous') })
}

const speedPasses = 8

/** Skill by skill, all rules; the best of some passes, as other work on the machine only slows them. */
async function benchSpeed(packages: readonly (readonly TextFile[])[]): Promise<void> {
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
