// A registry in a worker thread, so that a search never delays the main thread. Run it in an empty folder with
//   node --conditions=source CLONE/examples/embedding/worker-thread.ts
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Skills } from '@skillstead/core'

const worker = new Worker(new URL('./skills-worker.ts', import.meta.url))
worker.postMessage({ search: 'clean csv' })
const [{ fullName }] = (await once(worker, 'message')) as [{ fullName: string }]
console.log(`found ${fullName}`)

worker.postMessage({ load: fullName })
const [skill] = (await once(worker, 'message')) as [Awaited<ReturnType<Skills['load']>>]
console.log(`loaded version ${skill.metadata.version}`)

worker.postMessage({ close: true })
await once(worker, 'message')
console.log('the registry is closed')
await worker.terminate()
