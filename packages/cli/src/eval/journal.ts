import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { readErrorCode } from '@skillstead/protocol'
import { isRunning } from '../files/is-running.ts'
import type { CheckResult } from './judge-run.ts'
import type { ChildEnd } from './run-child.ts'

/** A finished run. */
export interface RunRecord {
  /** The identifier of its case. */
  readonly case: string
  readonly arm: 'with' | 'without'
  /** 1 for the first repetition. */
  readonly number: number
  /** `error`: the agent ended by itself, but its JSON has no result or reports an error. */
  readonly ending: ChildEnd['ending'] | 'scaffold' | 'error'
  readonly code: number
  readonly outcome: CheckResult['outcome']
  readonly checks: readonly CheckResult[]
  readonly seconds: number
  readonly tokens?: number
  /** The digest of its transcript. */
  readonly transcript: string
  /** When it ended, in milliseconds since 1970. */
  readonly at: number
}

/** Whether a run was not carried out as a whole. A later command repeats it. */
export function isBroken({ ending, code }: Pick<RunRecord, 'ending' | 'code'>): boolean {
  return ending !== 'exit' || code !== 0
}

/** The finished runs of an evaluation, on disk. */
export interface Journal {
  /** The folder of this evaluation. */
  readonly folder: string
  /** The finished runs by {@link toRunId}, including broken runs of this command, but not those of earlier commands. */
  readonly done: ReadonlyMap<string, RunRecord>
  add(record: RunRecord): void
  /**
   * A new folder for one run or one judge. Runs share no folder, because agents read instructions and skills of the
   * folders above theirs.
   */
  makeFolder(): string
  /** Removes the folders of runs, and releases the lock, so that other processes can continue the evaluation. */
  close(): void
}

const workPrefix = 'skillstead-eval-'

/** The identifier of a run within its evaluation. */
export function toRunId({ case: id, arm, number }: Pick<RunRecord, 'case' | 'arm' | 'number'>): string {
  return JSON.stringify([id, arm, number])
}

/**
 * Opens the journal of an evaluation below `out`. Its folder is named after the digest of `binding`: all that may
 * change the results, so that runs of another skill or command are never continued. Throws if another process has the
 * journal open.
 */
export function openJournal(out: string, binding: object): Journal {
  const key = createHash('sha256').update(JSON.stringify(binding)).digest('hex').slice(0, 16)
  const folder = join(out, key)
  const [file, lock] = [join(folder, 'journal.ndjson'), join(folder, 'lock')]
  // Transcripts may have secrets of the agent.
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  takeLock(lock)
  const done = new Map<string, RunRecord>()
  for (const line of readLines(file)) {
    if ('work' in line) removeWork(line.work)
    else if ('case' in line && !isBroken(line)) done.set(toRunId(line), line)
  }
  const folders: string[] = []
  const append = (line: object) => appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 })
  append({ binding })
  return {
    folder,
    done,
    add(record) {
      append(record)
      done.set(toRunId(record), record)
    },
    makeFolder() {
      const work = mkdtempSync(join(tmpdir(), workPrefix))
      folders.push(work)
      append({ work })
      return work
    },
    close() {
      for (const work of folders) removeWork(work)
      rmSync(lock, { force: true })
    },
  }
}

/** The lines of a journal. An incomplete last line, which a killed process leaves, is removed. */
function readLines(file: string): (RunRecord | { readonly work: string } | { readonly binding: object })[] {
  if (!existsSync(file)) return []
  const bytes = readFileSync(file)
  const end = bytes.lastIndexOf('\n') + 1
  if (end < bytes.length) truncateSync(file, end)
  const lines = bytes.subarray(0, end).toString().split('\n').slice(0, -1)
  try {
    return lines.map((line): RunRecord => JSON.parse(line))
  } catch (cause) {
    throw new Error(`${file} is damaged. Delete it to begin again.`, { cause })
  }
}

/**
 * Removes the folders of runs, if the path is one that this program makes. Errors are ignored: an agent may have left
 * folders in which nothing can be deleted, and no result may be lost because of that.
 */
function removeWork(work: string): void {
  const isNamed = dirname(work) === tmpdir() && basename(work).startsWith(workPrefix)
  if (!isNamed || !lstatSync(work, { throwIfNoEntry: false })?.isDirectory()) return
  try {
    rmSync(work, { recursive: true, force: true, maxRetries: 3 })
  } catch {}
}

function takeLock(lock: string): void {
  for (;;) {
    try {
      return writeFileSync(lock, String(process.pid), { flag: 'wx' })
    } catch (error) {
      if (readErrorCode(error) !== 'EEXIST') throw error
    }
    const holder = Number(readFileSync(lock, 'utf8'))
    if (holder !== process.pid && isRunning(holder))
      throw new Error(
        `Process ${holder} seems to run this evaluation. Wait until it ends, or delete ${lock} if that process is another program.`,
      )
    rmSync(lock, { force: true })
  }
}
