import { execFile } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { systemCaller } from '@skillstead/core'
import { importVersions, partsOf } from '@skillstead/core/internal'
import { openRegistry } from '../support/open-registry.ts'
import { startGitBackend, startNode, type Child } from './children.ts'
import type { Figure } from './figures.ts'
import { ask, clone, measureAdded, readCpuMs } from './git-clones.ts'
import { median, quantile } from './statistics.ts'

const ownerSkills = 300
const filesEach = 4
const concurrentClones = 100
/** Skills that are cloned on their own. */
const singleSkills = 60
const roundsLong = 10
const roundsShort = 3

const part = 'Clones over git, SQLite'

/**
 * What clones with git take: of one skill, and of an owner with 300, compared with `git http-backend` on repositories
 * that were cloned from the node. Both servers are asked in turns.
 */
export async function benchGateways({ folder, isShort }: { folder: string; isShort: boolean }): Promise<Figure[]> {
  mkdirSync(folder)
  const git = openGit(folder)
  const path = join(folder, 'skillstead.db')
  const contentMib = await fill(path)
  const root = join(folder, 'repositories')
  const cold = await cloneCold(git, path, root, roundsShort)
  const node = await startNode({ path })
  const backend = await startGitBackend(root)
  const servers: Servers = { node: { ...node, url: `${node.url}/git` }, backend }
  for (let i = 0; i < singleSkills; i++) {
    await git('clone', '-q', '--bare', `${servers.node.url}/ann/skill-${i}.git`, join(root, 'ann', `skill-${i}.git`))
  }
  const rounds = isShort ? roundsShort : roundsLong
  const figures = [
    ...(await measureShallow(servers, node.url, rounds)),
    { part, name: `git clone of ${ownerSkills} skills, cold`, value: median(cold) / 1000, unit: 's', most: 2 },
    ...(await measureCached(git, servers, folder, rounds)),
  ]
  await node.stop()
  await backend.stop()
  figures.push(...(await measureConcurrent(path, root)))
  console.log(`\n${ownerSkills} skills of ${filesEach + 1} files, ${contentMib.toFixed(1)} MiB in all`)
  return figures
}

interface Servers {
  readonly node: Child
  readonly backend: Child
}

type Git = (...args: string[]) => Promise<number>

/** Runs git without the configuration of the machine. Returns the time in ms. */
function openGit(folder: string): Git {
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' }
  const run = promisify(execFile)
  return async (...args) => {
    const startMs = performance.now()
    await run('git', args, { cwd: folder, env })
    return performance.now() - startMs
  }
}

/** Fills a registry with the skills of an owner. Returns their size. */
async function fill(path: string): Promise<number> {
  const registry = await openRegistry({ path, works: false })
  const versions = Array.from({ length: ownerSkills }, (_, i) => toVersion(i))
  const refused = (await importVersions(partsOf(registry), versions, systemCaller)).find(({ error }) => error)
  if (refused?.error) throw refused.error
  await registry.close()
  const bytes = versions.flatMap(({ skillMd, files }) => [skillMd.length, ...files.map((file) => file.bytes.length)])
  return bytes.reduce((sum, size) => sum + size, 0) / 2 ** 20
}

function toVersion(i: number) {
  const lines = Array.from({ length: 200 }, (_, k) => {
    return `Step ${k} of skill ${i}: ${((i * 7919 + k * 104_729) % 1e9).toString(36)} is read and written.`
  })
  const text = lines.join('\n')
  const name = `skill-${i}`
  return {
    owner: 'ann',
    name,
    version: '1.0.0',
    publishedAt: Date.UTC(2026, 0, 1) + i,
    skillMd: `---\nname: ${name}\ndescription: Does thing ${i} with files\n---\n${text}\n`,
    files: Array.from({ length: filesEach }, (_, n) => {
      return { path: `scripts/part-${n}.py`, bytes: Buffer.from(`# ${i} ${n}\n${text}\n`) }
    }),
  }
}

/** The first clone after a start, some times. The last one stays as the repository of the other server. */
async function cloneCold(git: Git, path: string, root: string, rounds: number): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    rmSync(root, { recursive: true, force: true })
    mkdirSync(join(root, 'ann'), { recursive: true })
    const node = await startNode({ path })
    times.push(await git('clone', '-q', '--bare', `${node.url}/git/ann.git`, join(root, 'ann.git')))
    await node.stop()
  }
  return times
}

/** The time that both servers need for a shallow clone, in addition to what as many small requests take. */
async function measureShallow({ node, backend }: Servers, nodeUrl: string, rounds: number): Promise<Figure[]> {
  const ours = { times: [] as number[], base: [] as number[], cpuMs: 0 }
  const theirs = { times: [] as number[], base: [] as number[], cpuMs: 0 }
  const measure = async ({ url, pid }: Child, base: string, to: typeof ours) => {
    const before = readCpuMs(pid)
    for (let i = 0; i < singleSkills; i++) {
      const startMs = performance.now()
      await clone(`${url}/ann/skill-${i}.git`, { depth: 1 })
      to.times.push(performance.now() - startMs)
    }
    to.cpuMs += readCpuMs(pid) - before
    for (let i = 0; i < singleSkills; i++) {
      const startMs = performance.now()
      await ask(base)
      to.base.push(performance.now() - startMs)
    }
  }
  for (let round = 0; round < rounds; round++) {
    await measure(node, nodeUrl, ours)
    if (round < roundsShort) await measure(backend, backend.url, theirs)
  }
  const toFigure = (name: string, { times, base, cpuMs }: typeof ours): Figure => {
    const loopback = `over loopback ${median(times).toFixed(2)}, p95 ${quantile(times, 0.95).toFixed(2)}`
    const note = `${loopback}, CPU ${(cpuMs / times.length).toFixed(2)}`
    return { part, name, value: median(times) - median(base), unit: 'ms', note }
  }
  return [
    { ...toFigure('shallow clone of a skill, server time', ours), most: 3 },
    toFigure('shallow clone of a skill by git http-backend, server time', theirs),
  ]
}

async function measureCached(git: Git, { node, backend }: Servers, folder: string, rounds: number): Promise<Figure[]> {
  const target = join(folder, 'clone')
  const times = { node: [] as number[], backend: [] as number[], checkout: [] as number[], requests: [] as number[] }
  const measure = async (to: number[], url: string, ...options: string[]) => {
    to.push(await git('clone', '-q', ...options, `${url}/ann.git`, target))
    rmSync(target, { recursive: true })
  }
  await git('clone', '-q', '--bare', `${node.url}/ann.git`, target)
  rmSync(target, { recursive: true })
  for (let round = 0; round < rounds; round++) {
    await measure(times.node, node.url, '--bare')
    await measure(times.backend, backend.url, '--bare')
    await measure(times.checkout, node.url)
    const startMs = performance.now()
    await clone(`${node.url}/ann.git`)
    times.requests.push(performance.now() - startMs)
  }
  const name = `git clone of ${ownerSkills} skills`
  const note = `its requests without git ${(median(times.requests) / 1000).toFixed(3)} s`
  const files = ownerSkills * (filesEach + 1)
  return [
    { part, name: `${name}, cached`, value: median(times.node) / 1000, unit: 's', most: 0.3, note },
    { part, name: `${name}, cached, with ${files} files checked out`, value: median(times.checkout) / 1000, unit: 's' },
    { part, name: `${name} by git http-backend`, value: median(times.backend) / 1000, unit: 's' },
  ]
}

/** Servers that have not served a clone yet: what they cache counts too. */
async function measureConcurrent(path: string, root: string): Promise<Figure[]> {
  const measure = async (server: Child, base: string) => {
    await ask(server.url)
    const startMs = performance.now()
    const mib = await measureAdded(server.pid, () =>
      Promise.all(Array.from({ length: concurrentClones }, () => clone(`${base}/ann.git`))),
    )
    const seconds = (performance.now() - startMs) / 1000
    await server.stop()
    return { mib, note: `in ${seconds.toFixed(1)} s` }
  }
  const node = await startNode({ path })
  const ours = await measure(node, `${node.url}/git`)
  const backend = await startGitBackend(root)
  const theirs = await measure(backend, backend.url)
  const name = `memory that ${concurrentClones} concurrent clones of ${ownerSkills} skills add`
  return [
    { part, name, value: ours.mib, unit: 'MiB', most: 200, note: ours.note },
    { part, name: `${name} to git http-backend`, value: theirs.mib, unit: 'MiB', note: theirs.note },
  ]
}
