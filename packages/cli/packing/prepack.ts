/**
 * Runs in a package before npm packs it: bundles it, and writes the package.json for publication, without references
 * to the workspace and its sources. `postpack.ts` restores the original.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildDashboard } from '../../dashboard/building/build.ts'
import { bundlePackage } from './bundle-package.ts'
import { copiedFolders, keptManifest, toRepositoryField } from './pack-paths.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  exports?: Record<string, Record<string, string>>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  scripts?: Record<string, string>
}

const root = join(import.meta.dirname, '../../..')

// After a killed run, restore the original package.json first; otherwise this run would keep the published one as the
// original.
if (existsSync(keptManifest)) renameSync(keptManifest, 'package.json')
const manifest = readPackageManifest('package.json')

// Delete old declarations: those of files that were renamed or removed since would be packed as well.
rmSync('dist', { recursive: true, force: true })
// Print to standard error: standard output is for `npm pack --json`.
execFileSync('tsc', ['-b', 'tsconfig.build.json'], { stdio: ['ignore', 2, 2] })
await bundlePackage(manifest)
if (manifest.name === '@skillstead/cli') await buildDashboard()
for (const [from, to] of copiedFolders[manifest.name] ?? []) cpSync(join(root, from), to, { recursive: true })

const text = `${JSON.stringify(toPublished(manifest, readPackageVersions()), null, 2)}\n`
copyFileSync('package.json', keptManifest)
writeFileSync('package.json', text)

/**
 * The manifest without scripts, development dependencies and the export condition for sources; `workspace:*` becomes a
 * version.
 */
function toPublished(workspace: Manifest, versions: ReadonlyMap<string, string>): Manifest {
  const { scripts: _scripts, devDependencies: _devDependencies, ...published } = structuredClone(workspace)
  for (const conditions of Object.values(published.exports ?? {})) delete conditions['source']
  for (const [name, range] of Object.entries(published.dependencies ?? {})) {
    if (range.startsWith('workspace:')) published.dependencies![name] = versions.get(name)!
  }
  return { ...published, ...toRepositoryField() }
}

/**
 * The versions of all packages by name. The packages are published together, so each needs exactly these versions of
 * the other packages.
 */
function readPackageVersions(): Map<string, string> {
  const folders = readdirSync(join(root, 'packages'))
  const manifests = folders.map((folder) => readPackageManifest(join(root, 'packages', folder, 'package.json')))
  return new Map(manifests.map(({ name, version }) => [name, version]))
}

function readPackageManifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8'))
}
