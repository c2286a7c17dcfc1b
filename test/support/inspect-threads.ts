import { Worker } from 'node:worker_threads'

/**
 * Calls `act` with the thread that inspects new versions, right after the thread got an order of versions. The returned
 * function ends that.
 */
export function onInspectOrder(act: (thread: Worker) => void): () => void {
  const { postMessage } = Worker.prototype
  Worker.prototype.postMessage = function (this: Worker, ...given: Parameters<typeof postMessage>) {
    postMessage.apply(this, given)
    if (typeof given[0] === 'object' && 'packages' in given[0]) act(this)
  }
  return () => void (Worker.prototype.postMessage = postMessage)
}
