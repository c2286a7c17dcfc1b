import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { exportRegistry, type ExportSummary } from '@skillstead/maintenance'
import { UsageError, type Command } from '../command.ts'
import { storeOptions, toLocation } from '../place.ts'
import { startRowBar } from '../row-bar.ts'

interface WrittenExport extends ExportSummary {
  readonly file: string
  readonly seconds: number
}

/** `skillstead export FILE`: also while a node serves the registry. With `-` the lines go to standard output. */
export const exportAll: Command<WrittenExport | undefined> = {
  summary: 'Writes everything in a registry as lines of JSON, which `import` takes in on either database.',
  words: ['FILE'],
  options: storeOptions,
  async run(given, output) {
    const location = toLocation(given)
    const [file] = given.words as [string]
    const signal = given.io.interruption()
    if (file === '-') {
      if (output.json) throw new UsageError('With - the export itself is on standard output: leave --json out.')
      await exportRegistry(location, given.io.stdout, { signal })
      return undefined
    }
    if (existsSync(file)) throw new UsageError(`${file} is there already: name a file that is not there.`)
    if (!existsSync(dirname(file))) throw new UsageError(`There is no folder ${dirname(file)}.`)
    const startedMs = performance.now()
    const bar = startRowBar(output)
    try {
      const summary = await exportRegistry(location, file, { signal, onProgress: bar.update })
      return { file, ...summary, seconds: (performance.now() - startedMs) / 1000 }
    } finally {
      bar.stop()
    }
  },
  show: (written) =>
    written
      ? [
          `Wrote ${written.file}: ${written.rows} rows, ${written.tables['versions']!.rows} versions; ${written.seconds.toFixed(1)} s.`,
          `  ${written.digest}`,
        ]
      : [],
}
