import { existsSync, rmSync } from 'node:fs'
import { chmod, lstat, mkdir, readFile, readdir, readlink, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLong } from './long.ts'

const prefix = 'skillstead-run'
const stopMs = 3000
const pollMs = 50
/** Where the operating system's temporary folder cannot be written. */
const ownFolder = join(import.meta.dirname, '../../.tmp')
/** Only there a run can find out which processes are alive and to which run they belong. */
const hasProc = existsSync('/proc/self/stat')

/** A file system in memory, where files take half the processor time of the system and no transaction waits for a disk. */
const memory = '/dev/shm'
/** Several times what a run of `pnpm test` keeps. */
const memoryBytesMin = 4 * 1024 ** 3

/** vitest's first global setup: the suite runs in memory where it can, unless TMPDIR names a folder. */
export default async function setUp(): Promise<void> {
  // Long runs build images and install clients, which take more room.
  const runsInMemory = !isLong && process.env.TMPDIR === undefined && (await isUsableMemory())
  await enterRunFolder(runsInMemory ? memory : tmpdir())
  // The workers' threads, and commands in processes of their own, start in half the processor time.
  process.env.NODE_COMPILE_CACHE = join(tmpdir(), 'compiled')
}

/** Whether programs can be started from it, which containers forbid by default, and it has room. */
async function isUsableMemory(): Promise<boolean> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  if (!/^\S+ \/dev\/shm tmpfs (?!\S*\bnoexec\b)/m.test(mounts)) return false
  const { bavail, bsize } = await statfs(memory)
  return Math.min(bavail * bsize, process.availableMemory()) >= memoryBytesMin
}

/**
 * Gives this process and its later child processes one temporary folder for everything that a run writes, after it has
 * removed what killed runs left. The folder is removed when the process ends.
 */
export async function enterRunFolder(parent = tmpdir()): Promise<void> {
  const folder = await makeRunFolder(parent).catch(async (error: Error) => {
    console.warn(`\nThe temporary folder cannot be used, so the run uses ${ownFolder}.\n${error.message}\n`)
    await mkdir(ownFolder, { recursive: true })
    return makeRunFolder(ownFolder)
  })
  process.env.TMPDIR = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
}

/** Makes the folder of this process's run below `parent`, after removing those of runs that have ended. */
export async function makeRunFolder(parent: string): Promise<string> {
  await removeLeftovers(parent)
  const folder = join(parent, [prefix, await readNamespace(), process.pid, await readStart(process.pid)].join('-'))
  await mkdir(folder)
  // As root, PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o755)
  return folder
}

/**
 * Removes the folders of this user's runs that have ended, and ends the processes that those runs left. Runs of other
 * checkouts that are still in progress keep theirs, and so do runs in other containers, whose processes are not visible.
 */
async function removeLeftovers(parent: string): Promise<void> {
  if (!hasProc) return
  const namespace = await readNamespace()
  for (const name of await readdir(parent)) {
    const [, owner, pid, start] = /^skillstead-run-(\d+)-(\d+)-(\d+)$/.exec(name) ?? []
    if (pid === undefined || owner !== namespace || (await readStart(Number(pid))) === start) continue
    const folder = join(parent, name)
    const stat = await lstat(folder).catch(() => undefined)
    if (!stat?.isDirectory() || stat.uid !== process.getuid?.()) continue
    await endProcesses(folder)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch((error: Error) => {
      console.warn(`A folder of an ended run cannot be removed. ${error.message}`)
    })
  }
}

/** PostgreSQL removes its shared memory on SIGTERM. */
async function endProcesses(folder: string): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of await listProcesses(folder)) endProcess(pid, signal)
    for (let waitedMs = 0; waitedMs < stopMs; waitedMs += pollMs) {
      if ((await listProcesses(folder)).length === 0) return
      await sleep(pollMs)
    }
  }
}

function endProcess(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself.
  }
}

/** The processes that were started with the folder as their temporary folder. */
async function listProcesses(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const isOfRun = await Promise.all(
    pids.map(async (pid) => {
      // Other users' processes cannot be read, and some end in the meantime.
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
      return environment.split('\0').some((entry) => `${entry}/`.startsWith(`TMPDIR=${folder}/`))
    }),
  )
  return pids.filter((_, i) => isOfRun[i])
}

/** When a process started, in ticks since the system did; '0' where there is no such process. */
async function readStart(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is the command in brackets, which may contain spaces and brackets. The start is the 22nd.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

/** The number of the namespace in which process ids are unique. */
async function readNamespace(): Promise<string> {
  const link = await readlink('/proc/self/ns/pid').catch(() => '')
  return /\d+/.exec(link)?.[0] ?? '0'
}
