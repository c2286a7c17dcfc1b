import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { bakeRules } from '../../packages/cli/packing/bake-rules.ts'
import { bundleRequired } from '../../packages/cli/packing/bundle-required.ts'
import { toAscii } from '../../packages/cli/packing/to-ascii.ts'
import { readLines } from './scan-samples.ts'

interface Measured {
  readonly firstMs: number
  readonly firstBytes: number
  readonly ms: readonly number[]
  readonly cpuMs: number
}

/**
 * Prints how much CPU time one SKILL.md of a corpus takes in a process of its own after a first pass over all of them, and
 * how much CPU time and memory such a process has taken up to its first scan. The scanner is bundled as in packages.
 */
export async function benchScanSpeed(corpusDir: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'skillstead-bench-'))
  const textsPath = join(folder, 'texts.json')
  const texts = readLines<{ skillMd: string }>(join(corpusDir, 'open.ndjson.gz')).map(({ skillMd }) => skillMd)
  writeFileSync(textsPath, JSON.stringify(texts))
  const child = await bundleChild(folder)
  const output = execFileSync(process.execPath, [child, textsPath], { maxBuffer: 1024 ** 3 })
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

/** Writes the measured program and the scanner, which is one file as that of the thread in packages. */
async function bundleChild(folder: string): Promise<string> {
  const bundle = await rolldown({
    platform: 'node',
    input: fileURLToPath(new URL('./scan-speed-child.ts', import.meta.url)),
    resolve: { conditionNames: ['source', 'node', 'import'] },
    transform: { target: 'es2024' },
    optimization: { pifeForModuleWrappers: false },
    plugins: [bakeRules(), bundleRequired()],
  })
  const { output } = await bundle.generate({ entryFileNames: 'child.mjs', format: 'esm', minify: true })
  await bundle.close()
  for (const one of output) if (one.type === 'chunk') writeFileSync(join(folder, one.fileName), toAscii(one.code))
  return join(folder, 'child.mjs')
}
