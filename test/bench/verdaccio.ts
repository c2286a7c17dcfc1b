import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { watchProcess } from './children.ts'
import { findFreePort } from '../support/free-port.ts'

const run = promisify(execFile)
const wanted = 'verdaccio@6'
const patienceMs = 120_000
const pollMs = 10
const writtenAtOnce = 100

/** What a package says of itself. */
export interface PackageText {
  readonly name: string
  readonly description: string
}

export interface Verdaccio {
  readonly version: string
  readonly url: string
  /** From its start to its first answer. */
  readonly startMs: number
  /** Of an answer, the mean. */
  readonly bodyBytes: number
  rssMib(): Promise<number>
  stop(): Promise<void>
}

/**
 * Installs Verdaccio into a folder with npm, fills its storage with a package of one version for each text, and starts it
 * without upstreams. Throws a sentence where it cannot be had, as without a network.
 */
export async function startVerdaccio(folder: string, packages: readonly PackageText[]): Promise<Verdaccio> {
  await mkdir(folder, { recursive: true })
  const version = await install(folder)
  await fill(join(folder, 'storage'), packages)
  const port = await findFreePort()
  await writeFile(join(folder, 'config.yaml'), config)
  const startedMs = performance.now()
  const bin = join(folder, 'node_modules/verdaccio/bin/verdaccio')
  const args = [bin, '--config', join(folder, 'config.yaml'), '--listen', `127.0.0.1:${port}`]
  const child = spawn(process.execPath, args, {
    stdio: 'ignore',
    cwd: folder,
    env: { ...process.env, NODE_ENV: 'production' },
  })
  watchProcess(child)
  const url = `http://127.0.0.1:${port}`
  try {
    await waitForAnswer(child, `${url}/-/ping`)
    const startMs = performance.now() - startedMs
    const bodyBytes = await requireAll(url, packages)
    return { version, url, startMs, bodyBytes, rssMib: () => readRssMib(child.pid!), stop: () => stop(child) }
  } catch (error) {
    await stop(child)
    throw error
  }
}

async function install(folder: string): Promise<string> {
  // It asks for node-fetch by a tag that not every registry keeps.
  const manifest = { private: true, overrides: { 'node-fetch': '^2.7.0' } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  try {
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts']
    await run('npm', ['install', ...quiet, wanted], { cwd: folder, timeout: patienceMs })
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    const reason = /^npm (?:error|ERR!) (?!code)(.+)$/m.exec(stderr)?.[1] ?? 'npm did not end in time'
    throw new Error(`Verdaccio cannot be installed from the package registry: ${reason}`, { cause: error })
  }
  const installed = await readFile(join(folder, 'node_modules/verdaccio/package.json'), 'utf8')
  return (JSON.parse(installed) as { version: string }).version
}

const config = `storage: ./storage
uplinks: {}
packages:
  '**':
    access: $all
web:
  enable: false
log: { type: stdout, format: json, level: fatal }
`

async function fill(storage: string, packages: readonly PackageText[]): Promise<void> {
  for (let i = 0; i < packages.length; i += writtenAtOnce) {
    await Promise.all(packages.slice(i, i + writtenAtOnce).map((each) => writePackage(storage, each)))
  }
  const list = packages.map(({ name }) => name)
  await writeFile(join(storage, '.verdaccio-db.json'), JSON.stringify({ list, secret: 'x'.repeat(32) }))
}

/** As `npm publish` leaves it there, without a README, which a skill's details have none of either. */
async function writePackage(storage: string, { name, description }: PackageText): Promise<void> {
  const version = '1.0.0'
  const file = `${name}-${version}.tgz`
  const dist = {
    shasum: '7e'.repeat(20),
    integrity: `sha512-${'Zm9v'.repeat(21)}Zg==`,
    tarball: `http://127.0.0.1/${name}/-/${file}`,
  }
  const published = {
    name,
    version,
    description,
    license: 'MIT',
    keywords: [],
    main: 'index.js',
    dist,
    _id: `${name}@${version}`,
  }
  const at = '2026-01-01T00:00:00.000Z'
  const metadata = {
    _id: name,
    name,
    description,
    'dist-tags': { latest: version },
    versions: { [version]: published },
    time: { created: at, modified: at, [version]: at },
    users: {},
    readme: '',
    _rev: '1-7e7e7e7e7e7e7e7e',
    _uplinks: {},
    _distfiles: {},
    _attachments: { [file]: { shasum: dist.shasum, version } },
  }
  await mkdir(join(storage, name), { recursive: true })
  await writeFile(join(storage, name, 'package.json'), JSON.stringify(metadata))
}

async function waitForAnswer(child: ChildProcess, url: string): Promise<void> {
  const endMs = performance.now() + patienceMs
  while (performance.now() < endMs && child.exitCode === null) {
    const response = await fetch(url).catch(() => undefined)
    await response?.body?.cancel()
    if (response?.ok) return
    await setTimeout(pollMs)
  }
  throw new Error('Verdaccio was installed, but it did not answer.')
}

/** What it does not find it answers fast. The mean of the answers' bytes. */
async function requireAll(url: string, packages: readonly PackageText[]): Promise<number> {
  let bytes = 0
  for (let i = 0; i < packages.length; i += writtenAtOnce) {
    const sizes = await Promise.all(packages.slice(i, i + writtenAtOnce).map(({ name }) => requireOne(url, name)))
    bytes += sizes.reduce((sum, size) => sum + size, 0)
  }
  return bytes / packages.length
}

async function requireOne(url: string, name: string): Promise<number> {
  const response = await fetch(`${url}/${name}`)
  const text = await response.text()
  const metadata = JSON.parse(text) as { name?: string; versions?: object }
  const isThere = response.ok && metadata.name === name && Object.keys(metadata.versions ?? {}).length === 1
  if (!isThere) throw new Error(`Verdaccio does not serve ${name}, which its storage has.`)
  return Buffer.byteLength(text)
}

/** Linux tells of other processes' memory in /proc; elsewhere it stays unknown. */
async function readRssMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? NaN) / 1024
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
  const given = await Promise.race([gone, setTimeout(2000, 'late')])
  if (given === 'late') child.kill('SIGKILL')
}
