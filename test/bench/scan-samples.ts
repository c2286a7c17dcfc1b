import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { Security } from '@skillstead/protocol'
import { scanFiles } from '@skillstead/scanner/rules'

export interface TextFile {
  readonly path: string
  readonly text: string
}

export interface Sample {
  readonly id: string
  readonly label: 'malicious' | 'suspicious' | 'benign' | 'benign-vendor' | 'real'
  readonly stratum: 'lexical' | 'semantic' | 'benign'
  readonly quality: string
  readonly family: string
  /** The repository or collection that it comes from. */
  readonly source: string
  readonly files: readonly TextFile[]
}

/** A sample and the verdict on it. */
export interface Judged {
  readonly sample: Sample
  readonly findings: Security['findings']
  readonly verdict: Security['verdict']
  readonly score: number
}

type SampleRecord = Omit<Sample, 'source' | 'files'> & {
  readonly source: { readonly repo: string } | string
  /** Programs are left out: their text is null. */
  readonly files: readonly (TextFile | { path: string; text: null })[]
}

/** Reads labelled samples from a file of lines of JSON, compressed or not. */
export function readSamples(path: string): Sample[] {
  return readLines<SampleRecord>(path).map(({ source, files, ...others }) => ({
    ...others,
    source: typeof source === 'string' ? source : source.repo,
    files: files.filter((file) => file.text !== null),
  }))
}

/** Samples from registries that lie next to the labelled ones, as `wild.ndjson.gz`. */
export function readWild(securityPath: string): Sample[] {
  const path = join(dirname(securityPath), basename(securityPath).replace(/^[^.]+/, 'wild'))
  return existsSync(path) ? readSamples(path) : []
}

/** Whole skills whose author knew no rule. */
export function readUnseen(): Sample[] {
  const path = fileURLToPath(new URL('../fixtures/paraphrases/unseen-skills.ndjson', import.meta.url))
  return readLines<Pick<Sample, 'label' | 'files'> & { category: string }>(path).map(({ category, ...others }, n) => ({
    ...others,
    id: `${n}`,
    stratum: 'lexical',
    quality: 'A',
    family: category,
    source: 'unseen',
  }))
}

/** Skills of registries, nearly all benign, from the folder of the corpus. */
export function readReal(corpusDir: string): Sample[] {
  const path = join(corpusDir, 'open.ndjson.gz')
  type Entry = { skillMd: string; files: readonly { path: string; text?: string }[] }
  return readLines<Entry>(path).map(({ skillMd, files }, n) => ({
    id: `${n}`,
    label: 'real',
    stratum: 'benign',
    quality: 'V',
    family: `${n}`,
    source: 'corpus',
    files: [
      { path: 'SKILL.md', text: skillMd },
      ...files.flatMap((file) => (file.text === undefined ? [] : [{ path: file.path, text: file.text }])),
    ],
  }))
}

export function readLines<T>(path: string): T[] {
  const bytes = readFileSync(path)
  const text = path.endsWith('.gz') ? gunzipSync(bytes) : bytes
  return text
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T)
}

export function judge(sample: Sample): Judged {
  const { verdict, findings, score } = scanFiles(sample.files, 0)
  return { sample, verdict, findings, score }
}

export function isLexical({ label, stratum }: Sample): boolean {
  return label === 'malicious' && stratum === 'lexical'
}

export function isBenign({ label }: Sample): boolean {
  return label.startsWith('benign')
}

function isFlagged({ verdict }: Judged): boolean {
  return verdict !== 'safe'
}

function isBlocked({ verdict }: Judged): boolean {
  return verdict === 'dangerous'
}

/** A share with its interval after Wilson, in which the true one lies with a probability of 95%. */
export function toRate(hits: number, samples: number): string {
  if (samples === 0) return '-'
  const z = 1.96
  const share = hits / samples
  const middle = (share + z ** 2 / (2 * samples)) / (1 + z ** 2 / samples)
  const half = (z / (1 + z ** 2 / samples)) * Math.sqrt((share * (1 - share)) / samples + z ** 2 / (4 * samples ** 2))
  return `${share.toFixed(3)} (${Math.max(0, middle - half).toFixed(3)} to ${Math.min(1, middle + half).toFixed(3)})`
}

/** The shares of samples, and the means over families, that are flagged and blocked. */
export function toRates(judged: readonly Judged[]) {
  const families = [...Map.groupBy(judged, ({ sample }) => sample.family).values()]
  const toShare = (isHit: (one: Judged) => boolean) => toRate(judged.filter(isHit).length, judged.length)
  // Families are few, so the interval of their mean is that of as many samples.
  const toMean = (isHit: (one: Judged) => boolean) =>
    toRate(
      families.reduce((sum, family) => sum + family.filter(isHit).length / family.length, 0),
      families.length,
    )
  return {
    samples: judged.length,
    flagged: toShare(isFlagged),
    blocked: toShare(isBlocked),
    families: families.length,
    'flagged by family': toMean(isFlagged),
    'blocked by family': toMean(isBlocked),
  }
}
