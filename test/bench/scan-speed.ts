import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readLines } from './scan-samples.ts'

interface Measured {
  readonly firstMs: number
  readonly firstBytes: number
  readonly ms: readonly number[]
  readonly cpuMs: number
}

/**
 * Prints how much CPU time one SKILL.md of a corpus takes in a process of its own after a first pass over all of them, and
 * how much CPU time and memory such a process has taken up to its first scan, from sources.
 */
export function benchScanSpeed(corpusDir: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'skillstead-bench-'))
  const textsPath = join(folder, 'texts.json')
  const texts = readLines<{ skillMd: string }>(join(corpusDir, 'open.ndjson.gz')).map(({ skillMd }) => skillMd)
  writeFileSync(textsPath, JSON.stringify(texts))
  const child = fileURLToPath(new URL('./scan-speed-child.ts', import.meta.url))
  const output = execFileSync(process.execPath, ['--conditions=source', child, textsPath], { maxBuffer: 1024 ** 3 })
  rmSync(folder, { recursive: true })
  const { firstMs, firstBytes, ms, cpuMs } = JSON.parse(output.toString()) as Measured
  const sorted = ms.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!
  console.log(`\nOne SKILL.md, of ${texts.length}`)
  console.table({
    'median, ms of CPU': at(0.5).toFixed(2),
    'p99, ms of CPU': at(0.99).toFixed(2),
    'mean, ms of CPU': (cpuMs / texts.length).toFixed(2),
    'first scan with the start of the process, ms of CPU': firstMs.toFixed(0),
    'memory for the first scan, MB': (firstBytes / 1e6).toFixed(1),
  })
}
