import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown, type Plugin } from 'rolldown'
import { bakeRules } from './bake-rules.ts'
import { bundleRequired } from './bundle-required.ts'
import { findThreads, listThreads } from './find-threads.ts'
import { leaveOutCertificates } from './leave-out-certificates.ts'
import { toAscii } from './to-ascii.ts'
import { optionalPackages, takeUsedParts } from './used-parts.ts'

const packages = join(import.meta.dirname, '../..')

const command = { main: join(packages, 'cli/src/main.ts') }

/**
 * Bundles programs and their threads, for this machine and the present folder of the clone, into `folder`. Default for
 * `programs`: the command.
 */
export async function bundleClone(folder: string, programs: Readonly<Record<string, string>> = command): Promise<void> {
  const bundle = await rolldown({
    platform: 'node',
    resolve: { conditionNames: ['source', 'node'] },
    input: { ...programs, ...listThreads(['*'], packages) },
    external: [...optionalPackages],
    plugins: [
      leaveNative(),
      bakeRules(),
      bundleRequired(),
      takeUsedParts(),
      leaveOutCertificates(),
      findThreads(),
      keepPlaces(),
      escapeNonAscii(),
    ],
    checks: { emptyImportMeta: false },
    logLevel: 'warn',
  })
  await bundle.write({ dir: folder, format: 'esm', comments: { jsdoc: false }, chunkFileNames: '[name]-[hash].js' })
  await bundle.close()
}

function escapeNonAscii(): Plugin {
  return {
    name: 'escape-non-ascii',
    generateBundle(_options, files) {
      for (const file of Object.values(files)) if (file.type === 'chunk') file.code = toAscii(file.code)
    },
  }
}

/** Leaves the database driver out of the bundle, because it looks for its native file next to itself. */
function leaveNative(): Plugin {
  return {
    name: 'leave-native',
    async resolveId(specifier, importer, options) {
      if (specifier !== 'better-sqlite3') return null
      const found = await this.resolve(specifier, importer, { ...options, skipSelf: true })
      return found && { id: pathToFileURL(found.id).href, external: true }
    },
  }
}

/**
 * Makes modules that look for files next to themselves find the files of the clone. The files of threads are in the
 * bundle.
 */
function keepPlaces(): Plugin {
  return {
    name: 'keep-places',
    transform(code, id) {
      if (!/import\.meta\.|__dirname|__filename/.test(code)) return null
      const places: Readonly<Record<string, string>> = {
        'import.meta.url': pathToFileURL(id).href,
        'import.meta.dirname': dirname(id),
        'import.meta.filename': id,
        __dirname: dirname(id),
        __filename: id,
      }
      const pattern = /(?<!-worker\.js', |[\w$.])(?:import\.meta\.(?:url|dirname|filename)|__dirname|__filename)\b/g
      return code.replaceAll(pattern, (found) => JSON.stringify(places[found]))
    },
  }
}
