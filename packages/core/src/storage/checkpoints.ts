import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { toThreadFile } from '@skillstead/scanner/workers'
import type { CheckpointOrder } from './checkpoint-worker.ts'

/** Moves SQLite's journal into the file now and then, in a thread: whoever commits does not wait for the disk twice. */
export interface Checkpoints {
  /** Something was committed. */
  committed(): void
  /** Ends the thread; the next commit would begin another. */
  stop(): Promise<void>
}

/** What is committed within this time is moved together. */
const gatherMs = 200
/** A process that commits less needs no thread: closing moves it all. */
const commitsMin = 32

/** `onBroken` is called where no thread can be had: then commits have to do it. */
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
      tell((worker ??= begin()), 'move')
    } catch {
      // Where no thread is to be had, or none is allowed, there is not even one that fails.
      giveUp()
    }
  }

  function giveUp(): void {
    if (isBroken) return
    isBroken = true
    onBroken()
  }

  function begin(): Worker {
    const begun = new Worker(toThreadFile(import.meta.url, 'checkpoint-worker'), { workerData: path })
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
      tell(worker, 'end')
      worker = undefined
      await ended
      isMoving = false
    },
  }
}

function tell(worker: Worker, order: CheckpointOrder): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage(order)
}
