import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import type { Security } from '@skillstead/protocol'
import { scanFiles } from '@skillstead/scanner/rules'

/** Files of code that are scanned. */
const endings: ReadonlySet<string> = new Set(['.js', '.mjs', '.cjs', '.py', '.sh'])
const filesMax = 3000
const bytesMax = 1_000_000

interface Scanned {
  readonly path: string
  readonly report: Security
  readonly ms: number
}

/**
 * Scans the code of installed packages, each file as the script of a skill, and prints how often it is flagged: the
 * packages are used by millions, so nearly every flag is a false alarm.
 */
export function benchHonest(folders: readonly string[]): void {
  const scanned = folders.map((folder) => [folder, scanFolder(folder)] as const)
  console.log('\nHonest code, each file as the script of a skill')
  console.table(Object.fromEntries(scanned.map(([folder, files]) => [folder, toRow(files)])))
  for (const [, files] of scanned) for (const { path, report } of files) printFlags(path, report)
}

/** Scans at most {@link filesMax} different files, always the same ones. */
function scanFolder(folder: string): Scanned[] {
  const digests = new Set<string>()
  const scanned: Scanned[] = []
  for (const path of listCode(folder)) {
    if (scanned.length === filesMax) break
    const full = join(folder, path)
    if (statSync(full).size > bytesMax) continue
    const bytes = readFileSync(full)
    const digest = toDigest(bytes)
    if (!digests.has(digest)) scanned.push(scan(full, bytes))
    digests.add(digest)
  }
  return scanned
}

/** Does not follow links, such as those of a workspace to its own packages. */
function listCode(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && endings.has(extname(entry.name)))
  const paths = files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
  const keyed = paths.map((path) => [toDigest(path), path] as const)
  return keyed.toSorted(([a], [b]) => a.localeCompare(b)).map(([, path]) => path)
}

function toDigest(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

function scan(path: string, bytes: Uint8Array): Scanned {
  const name = `scripts/run${extname(path)}`
  const text = `---\nname: run\ndescription: Runs a script.\n---\n\nRun \`${name}\`.\n`
  const startMs = performance.now()
  const report = scanFiles(
    [
      { path: 'SKILL.md', text },
      { path: name, bytes },
    ],
    0,
  )
  return { path, report, ms: performance.now() - startMs }
}

function toRow(scanned: readonly Scanned[]) {
  const times = scanned.map(({ ms }) => ms).toSorted((a, b) => a - b)
  const share = (verdict: Security['verdict']) => {
    const hits = scanned.filter(({ report }) => report.verdict === verdict).length
    return `${((100 * hits) / scanned.length).toFixed(2)} % (${hits})`
  }
  return {
    files: scanned.length,
    caution: share('caution'),
    dangerous: share('dangerous'),
    'median ms': times[times.length >> 1]?.toFixed(2),
    'p99 ms': times[Math.floor(times.length * 0.99)]?.toFixed(1),
  }
}

function printFlags(path: string, { verdict, findings }: Security): void {
  if (verdict === 'safe') return
  console.log(`${verdict} ${path}`)
  for (const { signal, ruleId, line, excerpt } of findings) {
    if (signal === 'hostile' || signal === 'suspicious')
      console.log(`  ${ruleId}, line ${line}: ${excerpt.slice(0, 120)}`)
  }
}
