import { once } from 'node:events'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { startThread } from '@skillstead/scanner/workers'
import type { CheckpointOrder } from './checkpoint-worker.ts'

/** Checkpoints SQLite's write-ahead log in a thread, so that a commit does not wait for the disk twice. */
export interface Checkpoints {
  /** Reports a commit. */
  committed(): void
  /** Ends the thread; the next commit starts another one. */
  stop(): Promise<void>
}

/** Commits within this time in milliseconds share a checkpoint. */
const gatherMs = 200
/** A process with fewer commits than this starts no thread: closing the database then runs the checkpoint. */
const commitsMin = 32

/** Calls `onBroken` if no thread can be started. The commits must then run checkpoints. */
export function createCheckpoints(path: string, onBroken: () => void): Checkpoints {
  let worker: Worker | undefined
  let timer: NodeJS.Timeout | undefined
  let commits = 0
  let isMoving = false
  let isDue = false
  let isBroken = false

  function committed(): void {
    commits++
    if (isBroken || commits < commitsMin) return
    isDue = true
    if (!isMoving) timer ??= setTimeout(move, gatherMs).unref()
  }

  function move(): void {
    timer = undefined
    isDue = false
    isMoving = true
    try {
      postOrder((worker ??= begin()), 'move')
    } catch {
      // No thread can be started.
      giveUp()
    }
  }

  function giveUp(): void {
    if (isBroken) return
    isBroken = true
    onBroken()
  }

  function begin(): Worker {
    const begun = startThread('checkpoint-worker', startCheckpointWorker, { workerData: path })
    begun.unref()
    begun.on('message', () => {
      isMoving = false
      if (isDue) committed()
    })
    begun.on('error', giveUp)
    begun.on('exit', () => {
      if (worker === begun) giveUp()
    })
    return begun
  }

  return {
    committed,
    async stop() {
      clearTimeout(timer)
      timer = undefined
      isDue = false
      if (!worker || isBroken) return
      const ended = once(worker, 'exit').catch(() => {})
      worker.ref()
      postOrder(worker, 'end')
      worker = undefined
      await ended
      isMoving = false
    },
  }
}

const startCheckpointWorker = (options: WorkerOptions) =>
  new Worker(new URL('./checkpoint-worker.ts', import.meta.url), options)

function postOrder(worker: Worker, order: CheckpointOrder): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage(order)
}
