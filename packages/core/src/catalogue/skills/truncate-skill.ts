import { Worker, type WorkerOptions } from 'node:worker_threads'
import { RegistryError } from '@skillstead/protocol'
import { startThread, WorkerPool } from '@skillstead/scanner/workers'
import { type LoadedSkill, truncate } from '@skillstead/skill-format/loading'

export interface TruncateOrder {
  readonly loaded: LoadedSkill
  readonly maxTokens: number
  readonly priority?: readonly string[]
}

type Threads = Pick<WorkerPool<LoadedSkill, TruncateOrder>, 'ask'>

const startTruncateWorker = (options: WorkerOptions) =>
  new Worker(new URL('./truncate-worker.ts', import.meta.url), options)
/** Timeout in milliseconds: a hundred times the slowest document's time, plus the time to load the encoding's table. */
const truncateMs = 30_000

/** Uses one thread, since each thread needs its own encoding table. */
const truncatePool = new WorkerPool<LoadedSkill, TruncateOrder>({
  start: () => startThread('truncate-worker', startTruncateWorker),
  answerMs: truncateMs,
  workersMax: 1,
})

/**
 * Truncates in another thread: loading the encoding's table takes 0.5 s and a document crafted to be slow 0.1 s, during
 * which no request would be answered. Throws `overloaded` after a timeout.
 */
export async function truncateSkill(order: TruncateOrder, threads: Threads = truncatePool): Promise<LoadedSkill> {
  const found = await threads.ask(order)
  // If no thread can be started, truncate in this thread.
  if (found === 'broken') return truncateHere(order)
  if (found === 'late') {
    const advice = 'The server is too busy to truncate the skill to maxTokens. Try again in 5 seconds.'
    throw new RegistryError('overloaded', advice, { retryAfterSeconds: 5 })
  }
  return found
}

/** As {@link truncateSkill}, in this thread. */
export async function truncateHere({ loaded, maxTokens, priority }: TruncateOrder): Promise<LoadedSkill> {
  return truncate(loaded, { maxTokens, priority, countTokens: await getTokenCounter() })
}

/** Counts the tokens of a text, or an upper bound of them. */
export type CountTokens = (text: string) => number

let tokenCounter: Promise<CountTokens> | undefined

/** The token counter for `o200k_base`, loaded at first use: its table takes 0.4 s and 100 MB of memory. */
export function getTokenCounter(): Promise<CountTokens> {
  tokenCounter ??= createCounter()
  return tokenCounter
}

async function createCounter(): Promise<CountTokens> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  // Treat text that spells a special token of the encoding, such as the end-of-text token, as ordinary text.
  const options = { disallowedSpecial: new Set<string>() }
  return (text) => countBoundedTokens(text, (part) => countTokens(part, options))
}

/**
 * Tokenizing takes quadratic time in the length of a run of letters, or of characters other than letters and digits. A
 * run longer than any word is counted as one token per byte, which is an upper bound.
 */
function countBoundedTokens(text: string, countTokens: CountTokens): number {
  if (!mayContainLongRun(text)) return countTokens(text)
  let tokens = 0
  let from = 0
  for (const { 0: run, index } of text.matchAll(/[\p{L}\p{M}]+|[^\p{L}\p{N}]+/gu)) {
    if (run.length <= runCharactersMax) continue
    // The tokenizer may join the character before the run to it. The sum may then be higher than the true count, but
    // never lower.
    tokens += countTokens(text.slice(from, index)) + Buffer.byteLength(run) + 2
    from = index + run.length
  }
  return tokens + countTokens(text.slice(from))
}

const runCharactersMax = 256

/** Checks only ASCII characters and assumes that others may belong to a run: fast, and without false negatives. */
function mayContainLongRun(text: string): boolean {
  let letters = 0
  let others = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isLetter = (code > 96 && code < 123) || (code > 64 && code < 91)
    const isDigit = code > 47 && code < 58
    letters = isLetter || code > 127 ? letters + 1 : 0
    others = isLetter || isDigit ? 0 : others + 1
    if (letters > runCharactersMax || others > runCharactersMax) return true
  }
  return false
}
