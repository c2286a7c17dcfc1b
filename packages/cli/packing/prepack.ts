/**
 * Runs in a package before npm packs it: compiles it, and makes package.json what a stranger can use, who has neither
 * the workspace nor its sources. `postpack.ts` puts the workspace's own back.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildDashboard } from '../../dashboard/building/build.ts'
import { copiedFolders, keptManifest } from './pack-paths.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  exports?: Record<string, Record<string, string>>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  scripts?: Record<string, string>
}

const root = join(import.meta.dirname, '../../..')

// What a killed run left behind would otherwise be taken for the original.
if (existsSync(keptManifest)) renameSync(keptManifest, 'package.json')
const manifest = readManifest('package.json')

// Compiled anew: what was renamed or removed since the last time would be packed along.
rmSync('dist', { recursive: true, force: true })
// Standard output belongs to `npm pack --json`.
execFileSync('tsc', ['-b', 'tsconfig.build.json'], { stdio: ['ignore', 2, 2] })
if (manifest.name === 'skillstead') await buildDashboard()
for (const [from, to] of copiedFolders[manifest.name] ?? []) cpSync(join(root, from), to, { recursive: true })

const text = `${JSON.stringify(toPublished(manifest, readVersions()), null, 2)}\n`
copyFileSync('package.json', keptManifest)
writeFileSync('package.json', text)

/** Without the condition that leads to sources, with versions in place of `workspace:*`, without our scripts. */
function toPublished(workspace: Manifest, versions: ReadonlyMap<string, string>): Manifest {
  const { scripts: _scripts, devDependencies: _devDependencies, ...published } = structuredClone(workspace)
  for (const conditions of Object.values(published.exports ?? {})) delete conditions['source']
  for (const [name, range] of Object.entries(published.dependencies ?? {})) {
    if (range.startsWith('workspace:')) published.dependencies![name] = versions.get(name)!
  }
  return published
}

/** The packages go out together, so one needs exactly the others of its own version. */
function readVersions(): Map<string, string> {
  const folders = readdirSync(join(root, 'packages'))
  const manifests = folders.map((folder) => readManifest(join(root, 'packages', folder, 'package.json')))
  return new Map(manifests.map(({ name, version }) => [name, version]))
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest
}
