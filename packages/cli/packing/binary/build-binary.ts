import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { buildDashboard } from '../../../dashboard/building/build.ts'
import { engineFlags } from '../../src/engine-flags.ts'
import { readExamples } from '../../src/serving/example-files.ts'
import { readProgramVersion } from '../../src/version.ts'
import { bundleBoot, bundleProgram, type BootName, type Chunks } from './bundle.ts'
import { recordCompiled } from './record.ts'
import { hostTarget, takeNodeOf } from './targets.ts'

const runBuildTool = promisify(execFile)
const packages = join(import.meta.dirname, '../../..')

/**
 * Builds the single executable for a target, such as `linux-arm64`, and returns its path. Default: the target of this
 * machine. Only the executable for this machine contains compiled code and starts faster, because the build cannot run
 * an executable for another machine.
 */
export async function buildBinary(output: string, target = hostTarget): Promise<string> {
  const scratch = await mkdtemp(join(tmpdir(), 'skillstead-binary-'))
  const isHost = target === hostTarget
  const boot = isHost ? 'boot' : 'plain-boot'
  try {
    const taken = isHost ? takeNode(scratch) : takeNodeOf(target, scratch)
    const [chunks, node] = await Promise.all([bundleProgram(target), taken, buildDashboard()])
    const assets = await writeAssets(scratch, { chunks, target, boot })
    const compiled = isHost
      ? await recordCompiled(await makeExecutable({ scratch, node, assets, boot: 'recording-boot' }), scratch)
      : {}
    const whole = await makeExecutable({ scratch, node, assets: { ...assets, ...compiled }, boot })
    await mkdir(dirname(output), { recursive: true })
    // Write to a new file and rename it, so that running processes keep the old executable.
    await cp(whole, `${output}.new`)
    await rename(`${output}.new`, output)
    return output
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Copies Node without its debug symbols, a fifth of its size, if `strip` is available. */
async function takeNode(scratch: string): Promise<string> {
  const path = join(scratch, 'node')
  await cp(process.execPath, path)
  await chmod(path, 0o755)
  await runBuildTool('strip', [path]).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    console.error(
      '`strip` is not installed, so the file is larger than necessary. On Debian it is in the package binutils.',
    )
  })
  return path
}

/** Assets by name, each with its source file. */
type Assets = Record<string, string>

interface Content {
  readonly chunks: Chunks
  readonly target: string
  readonly boot: BootName
}

async function writeAssets(scratch: string, { chunks, target, boot }: Content): Promise<Assets> {
  const assets: Assets = {}
  async function write(name: string, content: string): Promise<void> {
    assets[name] = join(scratch, 'assets', name)
    await mkdir(dirname(assets[name]), { recursive: true })
    await writeFile(assets[name], content)
  }
  for (const [name, code] of chunks) await write(`code/${name}`, code)
  await write('boot.js', await bundleBoot(boot))
  await write('version', readProgramVersion())
  await write('examples.json', await packExamples())
  assets['better_sqlite3.node'] = findAddon(target)
  const dashboard = join(packages, 'dashboard/dist')
  for (const entry of await readdir(dashboard, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) assets[`dashboard${path.slice(dashboard.length).replaceAll('\\', '/')}`] = path
  }
  return assets
}

async function packExamples(): Promise<string> {
  const items: object[] = []
  for await (const item of readExamples()) items.push(item)
  return JSON.stringify(items, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  )
}

function findAddon(target: string): string {
  const manifest = createRequire(join(packages, 'core/package.json')).resolve('better-sqlite3/package.json')
  return join(dirname(manifest), 'prebuilds', `${target}.node`)
}

interface Parts {
  readonly scratch: string
  readonly node: string
  readonly assets: Assets
  readonly boot: BootName
}

async function makeExecutable({ scratch, node, assets, boot }: Parts): Promise<string> {
  const main = join(scratch, `${boot}.js`)
  const output = join(scratch, `with-${basename(main, '.js')}`)
  const config = join(scratch, `${boot}.json`)
  await writeFile(main, `${await bundleBoot(boot)}skillstead.load('main.js')\n`)
  // V8 rejects code that was compiled under other flags, so the executable starts with these flags and must keep them.
  const execArgv = engineFlags
  const options = { main, output, executable: node, disableExperimentalSEAWarning: true, execArgv, assets }
  await writeFile(config, JSON.stringify(options))
  await runBuildTool(process.execPath, ['--build-sea', config])
  return output
}
