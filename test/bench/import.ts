import { join } from 'node:path'
import { importCorpus, type ImportSummary } from './catalogue.ts'
import type { Figure } from './figures.ts'
import { watchThreads } from './thread-chart.ts'

/** Imports the corpus with the command that people use, twice: the second time nothing may change. Prints its threads. */
export async function benchImport(title: string, place: readonly string[], corpusDir: string): Promise<Figure[]> {
  const file = join(corpusDir, 'open.ndjson.gz')
  let toThreads: ReturnType<typeof watchThreads> | undefined
  const first = await importCorpus(file, place, (pid) => (toThreads = watchThreads(pid)))
  console.log(
    `\nThreads of the first import: the share of the time in which each ran, in all and over time\n${toThreads?.()}`,
  )
  const second = await importCorpus(file, place)
  if (second.versionsCreated !== 0) throw new Error(`The second import published ${second.versionsCreated} versions.`)
  const part = `skillstead import, ${title}`
  const toFigure = (name: string, versions: number, { seconds, refused }: ImportSummary): Figure => {
    const note = `${versions.toLocaleString('en')} versions in ${seconds.toFixed(1)} s, ${refused} refused`
    return { part, name, value: versions / seconds, unit: 'versions/s', note }
  }
  return [
    toFigure('a whole catalogue', first.versionsCreated, first),
    toFigure('the same again', second.versionsUnchanged, second),
  ]
}
