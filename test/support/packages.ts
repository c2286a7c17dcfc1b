import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { chmod, cp, mkdir, readFile, readdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip } from 'node:zlib'
import { unpackTar } from 'modern-tar/fs'
import { publishedFolders } from '../../packages/cli/packing/pack-paths.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

export { publishedFolders as folders }

/** What of a package.json is looked at here. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports?: Record<string, Record<string, string>>
  readonly bin?: Record<string, string>
  readonly engines?: Record<string, string>
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
}

/** Reads a package.json. */
export async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** Copies everything that the packages are built from, and links what they need of others. */
export async function copyWorkspace(workspace: string): Promise<void> {
  await Promise.all(['packages/cli/packing', 'tsconfig.json', 'examples/skills'].map(copy(root, workspace)))
  await symlink(join(root, 'node_modules'), join(workspace, 'node_modules'))
  for (const folder of publishedFolders) await copyPackage(folder, workspace)
  await copyDashboard(workspace)
}

/**
 * Packs every package with `npm pack`, in a copy of the workspace: packing changes package.json for as long as it
 * takes, and other tests run concurrently. Returns the paths of the tarballs, in the order of `packed`.
 */
export async function packAll(scratch: string, packed: readonly string[] = publishedFolders): Promise<string[]> {
  const workspace = join(scratch, 'workspace')
  const tarballs = join(scratch, 'tarballs')
  await copyWorkspace(workspace)
  await mkdir(tarballs)
  const { stdout } = await run(
    'npm',
    ['pack', ...packed.map((folder) => `./packages/${folder}`), '--json', '--pack-destination', tarballs],
    { cwd: workspace, maxBuffer: 16 * 1024 * 1024, env: { ...process.env, npm_config_offline: 'true' } },
  )
  const files = JSON.parse(stdout) as Record<string, { filename: string }> | { filename: string }[]
  return Object.values(files).map(({ filename }) => join(tarballs, filename))
}

async function copyPackage(folder: string, workspace: string): Promise<void> {
  const from = join(root, 'packages', folder)
  const to = join(workspace, 'packages', folder)
  await Promise.all(['src', 'package.json', 'tsconfig.build.json', 'README.md', 'LICENSE'].map(copy(from, to)))
  await linkDependencies(from, to, (name) => join(workspace, 'packages', toFolder(name)))
}

/** What the pages are built from: they are packed along with the commands. */
async function copyDashboard(workspace: string): Promise<void> {
  const from = join(root, 'packages/dashboard')
  const to = join(workspace, 'packages/dashboard')
  const sources = ['src', 'building', 'index.html', 'vite.config.ts', 'package.json']
  await Promise.all([...sources.map(copy(from, to)), ...['pnpm-lock.yaml', 'docs'].map(copy(root, workspace))])
  await linkDependencies(from, to, (name) => join(workspace, 'packages', toFolder(name)))
}

const copy = (from: string, to: string) => (path: string) => cp(join(from, path), join(to, path), { recursive: true })

/**
 * An empty folder in which the tarballs are installed. What they need from others is linked from what the workspace
 * has, as no test may depend on a network; each finds only what its own package.json names.
 */
export async function install(
  tarballs: readonly string[],
  consumer: string,
  packed: readonly string[] = publishedFolders,
): Promise<void> {
  for (const [index, tarball] of tarballs.entries()) {
    const from = join(root, 'packages', packed[index]!)
    const to = join(consumer, 'node_modules', (await readManifest(from)).name)
    await unpack(tarball, to)
    await linkDependencies(from, to, (name) => join(consumer, 'node_modules', name))
  }
  await link(join(root, 'node_modules/@types/node'), join(consumer, 'node_modules/@types/node'))
  if (packed.includes('cli')) await linkCommands(join(consumer, 'node_modules'))
  await writeFile(join(consumer, 'package.json'), '{ "private": true, "type": "module" }\n')
}

/** As npm does it: what a package calls `bin` may be run, and is found by its name. */
async function linkCommands(modules: string): Promise<void> {
  const folder = join(modules, '@skillstead/cli')
  for (const [name, path] of Object.entries((await readManifest(folder)).bin ?? {})) {
    await chmod(join(folder, path), 0o755)
    await link(join(folder, path), join(modules, '.bin', name))
  }
}

async function unpack(tarball: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  await pipeline(createReadStream(tarball), createGunzip(), unpackTar(to, { strip: 1 }))
}

/** Links what the package.json in `to` asks for: ours to where they are, others to the workspace's copy. */
async function linkDependencies(from: string, to: string, ours: (name: string) => string): Promise<void> {
  const { dependencies = {}, devDependencies = {} } = await readManifest(to)
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const target = name.startsWith('@skillstead/') ? ours(name) : await realpath(join(from, 'node_modules', name))
    await link(target, join(to, 'node_modules', name))
  }
}

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await symlink(target, path)
}

const toFolder = (name: string) => name.slice('@skillstead/'.length)

/** The TypeScript in a package's README, which is what its users try first. */
export async function readExamples(folder: string): Promise<string[]> {
  const text = await readFile(join(root, 'packages', folder, 'README.md'), 'utf8')
  return [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => code!)
}

/** All files below a folder, without the packages that are linked into it. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return paths.map((path) => path.slice(folder.length + 1)).filter((path) => !path.startsWith('node_modules/'))
}

/** The Nodes that are promised, and where the workspace has them. */
export const nodes = [22, 24, 26].map((major) => ({
  major,
  path: join(root, major === 26 ? 'node_modules/node' : `test/node_modules/node${major}`, 'bin/node'),
}))

/** A Node of this machine that is older than what is promised, and its version; undefined where there is none. */
export async function findOldNode(): Promise<{ path: string; version: string } | undefined> {
  for (const folder of new Set((process.env.PATH ?? '').split(delimiter))) {
    const path = join(folder, 'node')
    const { stdout } = await run(path, ['--version']).catch(() => ({ stdout: '' }))
    const [, version, major] = /^v((\d+)\.\S+)/.exec(stdout) ?? []
    if (version !== undefined && Number(major) < 22) return { path, version }
  }
  return undefined
}
