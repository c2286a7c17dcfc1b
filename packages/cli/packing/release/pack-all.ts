/** `pnpm pack:all`: packs all packages that are published into `dist/release`, as `npm pack` does. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { publishedFolders, toRepositoryField } from '../pack-paths.ts'

const run = promisify(execFile)

/** The repository. */
export const root = join(import.meta.dirname, '../../../..')
/** Where releases are written. */
export const releaseFolder = join(root, 'dist/release')

/**
 * Packs all packages into `folder`, in the order in which they depend on each other: the order in which to publish
 * them. Returns the paths of the tarballs.
 */
export async function packAll(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  const scoped = await pack(
    root,
    publishedFolders.map((name) => `./packages/${name}`),
    folder,
  )
  // Packing a package also compiles its dependencies, and so restores the `dist` of packages packed before.
  for (const name of publishedFolders) await rm(join(root, 'packages', name, 'dist'), { recursive: true, force: true })
  const scratch = await mkdtemp(join(tmpdir(), 'skillstead-unscoped-'))
  try {
    await writeUnscoped(scratch)
    return [...scoped, ...(await pack(scratch, ['.'], folder))]
  } finally {
    await rm(scratch, { recursive: true })
  }
}

/** Writes the package `skillstead`, which only runs the command of `@skillstead/cli` of the same version. */
export async function writeUnscoped(folder: string): Promise<void> {
  const cli = join(root, 'packages/cli')
  const manifestText = await readFile(join(cli, 'package.json'), 'utf8')
  const { name, version, description, license, engines }: Record<string, string> = JSON.parse(manifestText)
  const manifest = {
    name: 'skillstead',
    version,
    description,
    license,
    ...toRepositoryField(),
    bin: { skillstead: 'main.js' },
    files: ['main.js'],
    type: 'module',
    dependencies: { [name!]: version },
    engines,
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await writeFile(join(folder, 'main.js'), `#!/usr/bin/env node\nimport '${name}/dist/main.js'\n`, { mode: 0o755 })
  for (const file of ['README.md', 'LICENSE']) await copyFile(join(cli, file), join(folder, file))
}

async function pack(cwd: string, folders: readonly string[], destination: string): Promise<string[]> {
  const args = ['pack', ...folders, '--json', '--pack-destination', destination]
  const { stdout } = await run('npm', args, { cwd, maxBuffer: 16 * 1024 * 1024 })
  // npm 11 and older print an array, later versions an object.
  const packed: Record<string, { filename: string }> = JSON.parse(stdout)
  return Object.values(packed).map(({ filename }) => join(destination, filename))
}

if (import.meta.main) for (const tarball of await packAll(releaseFolder)) console.log(tarball)
