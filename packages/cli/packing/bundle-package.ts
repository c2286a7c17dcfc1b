import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { rolldown, type InputOptions, type OutputChunk, type OutputOptions, type Plugin } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { bakeRules } from './bake-rules.ts'
import { bakeTokens } from './bake-tokens.ts'
import { bundleRequired } from './bundle-required.ts'
import { findThreads, listThreads } from './find-threads.ts'
import { describeLicenses } from './licenses.ts'
import { toAscii } from './to-ascii.ts'
import { optionalPackages, takeUsedParts } from './used-parts.ts'

/** The fields of a package.json that decide what is bundled. */
export interface BundledManifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Packages whose worker threads other packages copy, with the source folders of the threads. */
const copiedThreads: Readonly<Record<string, readonly string[]>> = { '@skillstead/core': ['.', '../scanner'] }

/** The table of the tokenizer: the largest module, which the program and a thread share. */
const tokenTable = 'gpt-tokenizer/encoding/o200k_base'

const common = {
  platform: 'node',
  transform: { target: 'es2024' },
  // Modules that are evaluated on use are also compiled on use.
  optimization: { pifeForModuleWrappers: false },
  checks: { emptyImportMeta: false },
  logLevel: 'warn',
} satisfies InputOptions

/**
 * Bundles the package in the current folder into `dist`: a file for each entry point, chunks for code that is shared or
 * loaded on use, and one file for each worker thread in `dist/threads`. Dependencies are not bundled, development
 * dependencies are. Writes the licenses of bundled packages to `licenses.md`, if there are any.
 */
export async function bundlePackage(manifest: BundledManifest): Promise<void> {
  const threads = copiedThreads[manifest.name]
  const own = threads === undefined ? listThreads(['.']) : {}
  const code = [
    ...(await bundleEntries(manifest, own)),
    ...(threads === undefined ? [] : await bundleCopiedThreads(manifest, threads)),
  ]
  const types = await bundleTypes(manifest)
  await rm('dist', { recursive: true })
  for (const { fileName, code: text } of [...code, ...types]) {
    const path = join('dist', fileName)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, fileName.endsWith('.js') ? toAscii(text) : text)
  }
  await rm('licenses.md', { force: true })
  const licenses = describeLicenses([...code, ...types].flatMap(({ moduleIds }) => moduleIds))
  if (licenses !== '') await writeFile('licenses.md', licenses)
}

async function bundleEntries(
  manifest: BundledManifest,
  threads: Readonly<Record<string, string>>,
): Promise<OutputChunk[]> {
  const entries = Object.fromEntries(listEntryPoints(manifest).map((name) => [name, `src/${name}.ts`]))
  const bundle = await rolldown({
    ...common,
    input: { ...entries, ...threads },
    external: toPatterns([...Object.keys(manifest.dependencies ?? {}), ...optionalPackages]),
    plugins: [findThreads(), bakeRules(), takeUsedParts(), bundleRequired(), shareTokenTable('./threads/')],
  })
  const { output } = await bundle.generate({ ...outputs, chunkFileNames: '[name]-[hash].js' })
  await bundle.close()
  const chunks = output.filter((one) => one.type === 'chunk')
  // Modules look for files relative to themselves, which is right only for modules directly in `dist`.
  const lost = chunks.find(({ fileName, code }) => fileName.includes('/') && code.includes('import.meta'))
  if (lost) throw new Error(`${lost.fileName} uses import.meta, which is only correct for files directly in dist.`)
  return chunks
}

/**
 * Bundles the declarations in `dist`, with those of development dependencies. Internal entry points share no chunk with
 * the public ones, whose users would otherwise check the types of the database library.
 */
async function bundleTypes(manifest: BundledManifest): Promise<OutputChunk[]> {
  const names = listEntryPoints(manifest).filter((name) => name !== 'main')
  const groups = [names.filter((name) => !isInternal(name)), names.filter(isInternal)]
  return (await Promise.all(groups.map((group) => bundleDeclarations(manifest, group)))).flat()
}

const isInternal = (name: string) => name.startsWith('internal')

async function bundleDeclarations(manifest: BundledManifest, names: readonly string[]): Promise<OutputChunk[]> {
  if (names.length === 0) return []
  const bundle = await rolldown({
    ...common,
    input: Object.fromEntries(names.map((name) => [name, `dist/${name}.d.ts`])),
    external: [/^node:/, ...toPatterns(Object.keys(manifest.dependencies ?? {}))],
    plugins: [dts({ dtsInput: true, tsconfig: false })],
  })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  return output.filter((one) => one.type === 'chunk')
}

/** The entry points and commands of a package, as paths below its sources without an extension. */
function listEntryPoints({ exports = {}, bin = {} }: BundledManifest): string[] {
  const published = [...Object.values(exports).map((conditions) => conditions['default']!), ...Object.values(bin)]
  return published.filter((path) => !path.includes('*')).map((path) => path.replace(/^\.\/dist\/(.*)\.js$/, '$1'))
}

const toPatterns = (names: readonly string[]) => names.map((name) => new RegExp(`^${name}(?:/|$)`))

const outputs = { format: 'esm', comments: { jsdoc: false } } satisfies OutputOptions

/** Bundles threads with all their imports into one folder, which bundled or traced programs can copy. */
async function bundleCopiedThreads(
  { dependencies = {} }: BundledManifest,
  folders: readonly string[],
): Promise<OutputChunk[]> {
  const bundle = await rolldown({
    ...common,
    input: listThreads(folders),
    resolve: { conditionNames: ['source', 'node', 'import'] },
    external: Object.keys(dependencies).filter((one) => one === 'better-sqlite3'),
    plugins: [bakeRules(), takeUsedParts(), bundleRequired(), shareTokenTable('./')],
  })
  const { output } = await bundle.generate({ ...outputs, minify: true, chunkFileNames: 'threads/[name]-[hash].js' })
  await bundle.close()
  const table = await rolldown({ ...common, input: { 'threads/token-table': tokenTable }, plugins: [bakeTokens()] })
  const { output: tables } = await table.generate({ ...outputs, minify: true })
  await table.close()
  return [...output, ...tables].filter((one) => one.type === 'chunk')
}

/** Leaves the table of the tokenizer in a file of its own. `folder` is relative to the importing file. */
function shareTokenTable(folder: string): Plugin {
  return {
    name: 'share-token-table',
    resolveId: (specifier) => (specifier === tokenTable ? { id: `${folder}token-table.js`, external: true } : null),
  }
}
