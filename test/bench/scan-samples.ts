import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Security } from '@skillstead/protocol'

export interface TextFile {
  readonly path: string
  readonly text: string
}

export interface Sample {
  readonly id: string
  readonly label: 'malicious' | 'suspicious' | 'benign' | 'benign-vendor'
  readonly stratum: 'lexical' | 'semantic' | 'benign'
  readonly family: string
  readonly categories: readonly string[]
  readonly source: { readonly repo: string }
  /** Programs are left out: their text is null. */
  readonly files: readonly (TextFile | { path: string; text: null })[]
}

/** A sample and the verdict on it. */
export interface Judged {
  readonly sample: Sample
  readonly findings: Security['findings']
  readonly verdict: Security['verdict']
  readonly score: number
}

export function toTexts({ files }: Sample): TextFile[] {
  return files.filter((file) => file.text !== null)
}

export function isLexical({ label, stratum }: Sample): boolean {
  return label === 'malicious' && stratum === 'lexical'
}

export function isBenign({ sample }: Judged): boolean {
  return sample.label.startsWith('benign')
}

export function isFlagged({ verdict }: Judged): boolean {
  return verdict !== 'safe'
}

export function isBlocked({ verdict }: Judged): boolean {
  return verdict === 'dangerous'
}

/** Reads records from lines of JSON, compressed or not. */
export function readLines<T>(path: string): T[] {
  const bytes = readFileSync(path)
  const text = path.endsWith('.gz') ? gunzipSync(bytes) : bytes
  return text
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T)
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

export function toRates(judged: readonly Judged[]) {
  const flagged = judged.filter(isFlagged).length
  const dangerous = judged.filter(isBlocked).length
  return {
    samples: judged.length,
    flagged: toRate(flagged, judged.length),
    dangerous: toRate(dangerous, judged.length),
  }
}

/** Mean over families of the share of samples that are flagged, and that are dangerous. */
export function toFamilyMeans(judged: readonly Judged[]) {
  const families = [...Map.groupBy(judged, ({ sample }) => sample.family).values()]
  const mean = (isHit: (one: Judged) => boolean) =>
    families.reduce((sum, family) => sum + family.filter(isHit).length / family.length, 0) / families.length
  return {
    families: families.length,
    flagged: mean(isFlagged),
    dangerous: mean(isBlocked),
  }
}
