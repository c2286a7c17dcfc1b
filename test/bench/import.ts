import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const cli = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

interface Summary {
  taken: number
  unchanged: number
  refused: number
  versionsCreated: number
  versionsUnchanged: number
  versionsRefused: number
  seconds: number
}

/** Imports the corpus with the command that people use, twice: the second time nothing may change. */
export async function benchImport(title: string, place: readonly string[], corpusDir: string): Promise<void> {
  const first = await importCorpus(place, corpusDir)
  const second = await importCorpus(place, corpusDir)
  if (second.versionsCreated !== 0) throw new Error(`The second import published ${second.versionsCreated} versions.`)
  console.log(`\nImport of the corpus on ${title}`)
  console.table({
    first: { ...first, versionsPerSecond: Math.round(first.versionsCreated / first.seconds) },
    second: { ...second, versionsPerSecond: Math.round(second.versionsUnchanged / second.seconds) },
  })
}

async function importCorpus(place: readonly string[], corpusDir: string): Promise<Summary> {
  const args = ['--conditions=source', cli, 'import', join(corpusDir, 'open.ndjson.gz'), ...place, '--json']
  const { stdout } = await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 })
  const { refusals: _refusals, warnings: _warnings, filesMissing: _filesMissing, ...summary } = JSON.parse(stdout)
  return summary as Summary
}
