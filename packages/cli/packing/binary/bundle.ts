import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { rolldown, type InputOptions, type OutputChunk, type Plugin } from 'rolldown'
import { bakeRules } from '../bake-rules.ts'
import { bakeTokens } from '../bake-tokens.ts'
import { bundleRequired } from '../bundle-required.ts'
import { leaveOutCertificates } from '../leave-out-certificates.ts'
import { toAscii } from '../to-ascii.ts'
import { optionalPackages, takeUsedParts } from '../used-parts.ts'

const packages = join(import.meta.dirname, '../../..')
const inside = join(import.meta.dirname, 'inside')

/** Modules that look for files next to themselves, and their replacements in the single executable. */
const substitutes: Readonly<Record<string, string>> = {
  'scanner/src/threads/thread-start.ts': 'thread-start.ts',
  'cli/src/serving/dashboard-files.ts': 'dashboard-files.ts',
  'cli/src/serving/example-files.ts': 'example-files.ts',
  'cli/src/version.ts': 'version.ts',
  'cli/src/engine-flags.ts': 'engine-flags.ts',
  'gateways/src/version.ts': 'version.ts',
}

const common = {
  platform: 'node',
  resolve: { conditionNames: ['source', 'node'] },
  external: [...optionalPackages],
  // No warning about an empty `import.meta`: a package only tests whether fields of it exist.
  checks: { emptyImportMeta: false },
  logLevel: 'warn',
} satisfies InputOptions

/** Code by chunk name: everything that a command or thread may need. */
export type Chunks = ReadonlyMap<string, string>

/** Bundles the command and the threads for a target. Modules that are loaded on use stay separate chunks. */
export async function bundleProgram(target: string): Promise<Chunks> {
  const threads = globSync('*/src/**/*-worker.ts', { cwd: packages })
  const entries = [join(inside, 'main.ts'), ...threads.map((path) => join(packages, path))]
  const unused = new Set(Object.keys(substitutes))
  const bundle = await rolldown({
    ...common,
    input: Object.fromEntries(entries.map((path) => [basename(path, '.ts'), path])),
    plugins: [
      substituteModules(unused),
      bakeRules(),
      bakeTokens(),
      takeUsedParts(),
      bundleRequired(),
      leaveOutCertificates(),
      takeAddon(target),
    ],
  })
  const { output } = await bundle.generate({
    format: 'cjs',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await bundle.close()
  if (unused.size > 0)
    throw new Error(`Nothing imports ${[...unused].join(', ')} any more. Update the list of substitutes.`)
  const chunks = output.filter((one): one is OutputChunk => one.type === 'chunk')
  return new Map(
    chunks.map(({ fileName, code }) => [
      fileName,
      `(function (exports, require, module, __filename = '/skillstead.js') {${toAscii(code)}\n})`,
    ]),
  )
}

/** A script of the folder `inside` that the executable runs first. */
export type BootName = 'boot' | 'recording-boot' | 'plain-boot'

/** A boot script as a text that exports `skillstead.load`. */
export async function bundleBoot(name: BootName): Promise<string> {
  const bundle = await rolldown({ ...common, input: join(inside, `${name}.ts`) })
  const { output } = await bundle.generate({ format: 'iife', name: 'skillstead', minify: true })
  await bundle.close()
  return output[0].code
}

function substituteModules(unused: Set<string>): Plugin {
  return {
    name: 'substitute',
    async resolveId(specifier, importer, options) {
      if (!importer || importer.startsWith(inside) || !specifier.startsWith('.')) return null
      const found = await this.resolve(specifier, importer, { ...options, skipSelf: true })
      const path = found?.id.slice(packages.length + 1)
      if (path === undefined || !Object.hasOwn(substitutes, path)) return found
      unused.delete(path)
      return join(inside, substitutes[path]!)
    },
  }
}

/**
 * Bundles the entry of better-sqlite3 that takes its native addon as an argument; the executable contains the addon.
 */
function takeAddon(target: string): Plugin {
  const virtual = '\0addon'
  return {
    name: 'take-addon',
    resolveId(specifier, importer, options) {
      if (specifier.endsWith('.node')) return virtual
      if (specifier !== 'better-sqlite3') return null
      return this.resolve(`better-sqlite3/${target}`, importer, { ...options, skipSelf: true })
    },
    load: (id) =>
      id === virtual ? `module.exports = require(${JSON.stringify(join(inside, 'addon.ts'))}).openAddon()` : null,
  }
}
