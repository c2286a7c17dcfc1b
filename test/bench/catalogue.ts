import { execFile } from 'node:child_process'
import { createWriteStream, existsSync } from 'node:fs'
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createGzip, gzipSync } from 'node:zlib'
import { watchProcess } from './children.ts'
import { seededRandom } from '../support/random.ts'
import { makeSkills, rewrite, toQuery, type SyntheticQuery } from './synthetic.ts'

const run = promisify(execFile)
const cli = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
const queriesMax = 1000
const pairs = 200
/** How many words differ in a near copy, and in a text that only begins the same. */
const copyShare = 0.05

/** What was imported: how much of it, and how long that took. */
export interface Imported {
  readonly versions: number
  readonly seconds: number
}

/** Writes the files that a corpus of real skills has too: skills, searches that one of them answers, and pairs of copies. */
export async function writeCorpus(folder: string, count: number): Promise<void> {
  await mkdir(folder, { recursive: true })
  const queries: SyntheticQuery[] = []
  const copies: string[] = []
  const random = seededRandom(3)
  function* lines() {
    for (const skill of makeSkills(count)) {
      if (random() < queriesMax / count) queries.push(toQuery(skill, random))
      if (copies.length < pairs && random() < 0.1) copies.push(toPair(skill.skillMd))
      yield `${JSON.stringify(skill)}\n`
    }
  }
  const toPair = (skillMd: string) => {
    const isCopy = random() < 0.7
    const other = rewrite(skillMd, isCopy ? copyShare : 0.9, random)
    return JSON.stringify({ type: isCopy ? 'near' : 'NEG-same-subject', a: { skillMd }, b: { skillMd: other } })
  }
  const packed = createGzip({ level: 1 })
  await pipeline(Readable.from(lines()), packed, createWriteStream(join(folder, 'open.ndjson.gz')))
  await writeFile(join(folder, 'queries-open.ndjson'), queries.map((query) => `${JSON.stringify(query)}\n`).join(''))
  await writeFile(join(folder, 'copies-open.ndjson.gz'), gzipSync(`${copies.join('\n')}\n`))
}

let keptIn: string | undefined

/** Where catalogues stay for the parts that come later, and for later runs. */
export function keepCatalogues(folder: string): void {
  keptIn = folder
}

/**
 * Makes `folder` what `skillstead serve --data` takes, by the command that people import with: so many made-up skills, or
 * those of a corpus. What was made once in this run is copied.
 */
export async function makeCatalogue(
  folder: string,
  { count, corpus }: { count: number; corpus?: string },
): Promise<Imported | undefined> {
  if (keptIn === undefined) return importInto(folder, count, corpus)
  const kept = join(keptIn, `skills-${count}${corpus === undefined ? '' : '-of-corpus'}`)
  let imported: Imported | undefined
  if (!existsSync(kept)) {
    // A run that was cut short left it.
    await rm(`${kept}.new`, { recursive: true, force: true })
    imported = await importInto(`${kept}.new`, count, corpus)
    await rename(`${kept}.new`, kept)
  }
  await cp(kept, folder, { recursive: true })
  return imported
}

async function importInto(folder: string, count: number, given: string | undefined): Promise<Imported> {
  const corpus = given ?? `${folder}-corpus`
  if (given === undefined) await writeCorpus(corpus, count)
  const { versionsCreated, seconds } = await importCorpus(join(corpus, 'open.ndjson.gz'), ['--data', folder])
  if (given === undefined) await rm(corpus, { recursive: true })
  return { versions: versionsCreated, seconds }
}

export interface ImportSummary {
  readonly taken: number
  readonly unchanged: number
  readonly refused: number
  readonly versionsCreated: number
  readonly versionsUnchanged: number
  readonly versionsRefused: number
  readonly seconds: number
}

/** Imports a file with the command that people use; `watch` is called with the id of its process. */
export async function importCorpus(
  file: string,
  place: readonly string[],
  watch?: (pid: number) => void,
): Promise<ImportSummary> {
  const args = ['--conditions=source', cli, 'import', file, ...place, '--json']
  const importing = run(process.execPath, args, { maxBuffer: 256 * 1024 * 1024 })
  watchProcess(importing.child)
  watch?.(importing.child.pid!)
  const { stdout } = await importing
  const { refusals: _refusals, warnings: _warnings, filesMissing: _filesMissing, ...summary } = JSON.parse(stdout)
  return summary as ImportSummary
}
