import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Security } from '@skillstead/protocol'
import { createScanPool, scanInThread } from '../../packages/scanner/src/scan-package.ts'
import { workersMax } from '../../packages/scanner/src/worker-pool.ts'
import { allRules, scanFiles } from '@skillstead/scanner/rules'
import { toVerdict } from '@skillstead/scanner'
import type { RuleCases } from '../rules/cases.ts'
import { flowHits } from '../rules/flow-cases.ts'

type RuleTable = Record<string, RuleCases>

interface TextFile {
  readonly path: string
  readonly text: string
}

interface Sample {
  readonly id: string
  readonly label: 'malicious' | 'suspicious' | 'benign' | 'benign-vendor'
  readonly stratum: 'lexical' | 'semantic' | 'benign'
  readonly family: string
  readonly categories: readonly string[]
  /** Programs are left out: their text is null. */
  readonly files: readonly (TextFile | { path: string; text: null })[]
}

interface Judged {
  readonly sample: Sample
  readonly findings: Security['findings']
  readonly verdict: Security['verdict']
}

/**
 * Prints for each rule what the labelled skills and the examples of `test/rules` lose without it. A rule may only go if
 * another one finds all its examples. A combination counts as a rule of its own.
 */
export async function benchAblation(securityPath: string): Promise<void> {
  const judged = readLines<Sample>(securityPath).map((sample) => judge(sample))
  const examples = await readExamples()
  const rows = allRules.map(({ id }) => [id, toAblation(id, judged, examples.get(id) ?? [])] as const)
  console.log(`\nWithout each rule, on ${judged.length} labelled skills and the examples of test/rules`)
  console.table(Object.fromEntries(rows.toSorted(([a], [b]) => a.localeCompare(b))))
}

function toAblation(id: string, judged: readonly Judged[], examples: readonly string[]) {
  const without = judged
    .filter(({ findings }) => findings.some(({ ruleId }) => ruleId === id))
    .map((each) => ({ ...each, after: toVerdict(each.findings.filter(({ ruleId }) => ruleId !== id)) }))
  const isBenign = ({ sample }: Judged) => sample.label.startsWith('benign')
  const cleared = without.filter(({ verdict, after }) => verdict !== 'safe' && after === 'safe')
  const eased = without.filter(({ verdict, after }) => verdict === 'dangerous' && after !== 'dangerous')
  const alone = examples.filter((text) => {
    const { findings } = scanFiles([{ path: 'SKILL.md', text }], 0)
    return findings.every(({ ruleId, signal }) => ruleId === id || signal === 'none')
  })
  return {
    'found in': without.length,
    'flagged lost': cleared.filter((each) => !isBenign(each)).length,
    'dangerous lost': eased.filter((each) => !isBenign(each)).length,
    'false alarms gone': cleared.filter(isBenign).length,
    examples: examples.length,
    'found by it alone': alone.length,
  }
}

/** The texts of `test/rules` in which each rule finds something. */
async function readExamples(): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = new URL('../rules/', import.meta.url)
  const files = await Promise.all(
    readdirSync(folder).map((file) => import(new URL(file, folder).href) as Promise<Record<string, RuleTable>>),
  )
  const tables = files.flatMap((file) => Object.entries(file)).filter(([name]) => name.endsWith('Cases'))
  const hits = tables.flatMap(([, table]) => Object.entries(table).map(([id, cases]) => [id, cases.hits] as const))
  const all = [...hits, ...flowHits.map(([id, text]) => [id, [text]] as const)]
  return new Map([...Map.groupBy(all, ([id]) => id)].map(([id, of]) => [id, of.flatMap(([, texts]) => texts)]))
}

/** Scans labelled skills, and skills from the wild if there are any, and prints how often it is right and how fast. */
export async function benchScan(securityPath: string, corpusDir?: string): Promise<void> {
  const judged = readLines<Sample>(securityPath).map((sample) => judge(sample))
  const lexical = judged.filter(({ sample }) => sample.label === 'malicious' && sample.stratum === 'lexical')
  const of = (label: Sample['label']) => judged.filter(({ sample }) => sample.label === label)
  console.log(`\nThe scanner on ${judged.length} labelled skills`)
  console.table({
    'malicious, lexical': toRates(lexical),
    'malicious, semantic': toRates(of('malicious').filter(({ sample }) => sample.stratum === 'semantic')),
    suspicious: toRates(of('suspicious')),
    benign: toRates(of('benign')),
    'benign, of vendors': toRates(of('benign-vendor')),
    'benign, all': toRates([...of('benign'), ...of('benign-vendor')]),
  })
  console.log(`Mean over families of lexical samples: ${toFamilyMean(lexical)}\n\nLexical samples by category`)
  console.table(toCategories(lexical))
  if (corpusDir) benchWild(corpusDir)
  await benchSpeed(judged.map(({ sample }) => toTexts(sample)))
}

function judge(sample: Sample): Judged {
  const { verdict, findings } = scanFiles(toTexts(sample), 0)
  return { sample, verdict, findings }
}

function toTexts({ files }: Sample): TextFile[] {
  return files.filter((file) => file.text !== null)
}

function toRates(judged: readonly Judged[]) {
  const flagged = judged.filter(({ verdict }) => verdict !== 'safe').length
  const dangerous = judged.filter(({ verdict }) => verdict === 'dangerous').length
  return {
    samples: judged.length,
    flagged: toRate(flagged, judged.length),
    dangerous: toRate(dangerous, judged.length),
  }
}

/** A share with its interval after Wilson, in which the true one lies with a probability of 95%. */
function toRate(hits: number, samples: number): string {
  if (samples === 0) return '-'
  const z = 1.96
  const share = hits / samples
  const middle = (share + z ** 2 / (2 * samples)) / (1 + z ** 2 / samples)
  const half = (z / (1 + z ** 2 / samples)) * Math.sqrt((share * (1 - share)) / samples + z ** 2 / (4 * samples ** 2))
  return `${share.toFixed(3)} (${Math.max(0, middle - half).toFixed(3)} to ${Math.min(1, middle + half).toFixed(3)})`
}

function toFamilyMean(judged: readonly Judged[]): string {
  const families = [...Map.groupBy(judged, ({ sample }) => sample.family).values()]
  const mean = (isHit: (one: Judged) => boolean) =>
    families.reduce((sum, family) => sum + family.filter(isHit).length / family.length, 0) / families.length
  const flagged = mean(({ verdict }) => verdict !== 'safe').toFixed(3)
  return `${flagged} flagged, ${mean(({ verdict }) => verdict === 'dangerous').toFixed(3)} dangerous (${families.length} families)`
}

function toCategories(judged: readonly Judged[]) {
  const names = [...new Set(judged.flatMap(({ sample }) => sample.categories))].toSorted()
  const rows = names.map((name) => [name, toRates(judged.filter(({ sample }) => sample.categories.includes(name)))])
  return Object.fromEntries(rows) as Record<string, ReturnType<typeof toRates>>
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
  const together = await findBest(() => Promise.all(packages.map((files) => scanInThread(files, 0, pool))))
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

function readLines<T>(path: string): T[] {
  const bytes = readFileSync(path)
  const text = path.endsWith('.gz') ? gunzipSync(bytes) : bytes
  return text
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T)
}
