import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const packageFolder = join(import.meta.dirname, '..')
const built = join(packageFolder, 'dist/index.html')
const stamp = join(packageFolder, 'node_modules/.built-from')

/** Builds the pages, unless they were built from the very same sources already. */
export async function buildDashboard(): Promise<void> {
  const digest = toSourcesDigest()
  if (existsSync(built) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return
  // Loading vite takes half a second, which a start with nothing to build does not spend.
  const { build } = await import('vite')
  await build({ configFile: join(packageFolder, 'vite.config.ts') })
  writeFileSync(stamp, digest)
}

/**
 * The digest of everything that goes into the pages: their own files, the packages that they include, the
 * documentation, and the lock file.
 */
function toSourcesDigest(): string {
  const hash = createHash('sha256')
  const sources = [
    '{client,protocol,skill-format}/src/**/*.ts',
    'dashboard/{src,building}/**/*.*',
    'dashboard/*.{ts,html,json}',
    '../docs/*.{md,svg}',
    '*/README.md',
  ]
  const cwd = join(packageFolder, '..')
  for (const path of globSync([...sources, '../pnpm-lock.yaml'], { cwd }).toSorted()) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(cwd, path)))
      .update('\0')
  }
  return hash.digest('hex')
}

if (import.meta.main) await buildDashboard()
