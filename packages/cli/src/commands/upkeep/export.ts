import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { exportRegistry } from '@skillstead/maintenance'
import { mirrorExtension } from '@skillstead/mirror/extension'
import { UsageError, command } from '../../command/command.ts'
import { storeOptions, toStoreLocation } from '../../registry/place.ts'
import { toJsonStream } from '../../terminal/output.ts'
import { startRowBar } from '../../terminal/progress-bar.ts'

const extensions = [mirrorExtension]

export const commands = {
  export: command({
    description:
      'Export a whole registry as JSON lines, also while a node serves it. `import` loads the file into SQLite or PostgreSQL. With - as FILE, the export goes to standard output.',
    words: ['FILE'],
    options: storeOptions,
    async run(given, output) {
      const location = toStoreLocation(given)
      const [file] = given.words
      const signal = given.io.interruption()
      if (file === '-') {
        if (output.json)
          throw new UsageError('--json cannot be used with -, because the export itself goes to standard output.')
        const { stdout } = given.io
        await exportRegistry(location, stdout.isTTY ? toJsonStream(stdout) : stdout, { extensions, signal })
        return undefined
      }
      if (existsSync(file)) throw new UsageError(`${file} already exists. Choose another file name.`)
      if (!existsSync(dirname(file))) throw new UsageError(`The folder ${dirname(file)} does not exist.`)
      const startedMs = performance.now()
      const bar = startRowBar(output)
      try {
        const summary = await exportRegistry(location, file, { extensions, signal, onProgress: bar.update })
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
  }),
}
