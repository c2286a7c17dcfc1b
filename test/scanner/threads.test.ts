import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { onThreadsMissing, placeThreads, startThread } from '../../packages/scanner/src/threads/threads.ts'

const start = () => new Worker(new URL('data:text/javascript,'))
afterEach(() => placeThreads('default'))

describe('worker threads of a bundled program', () => {
  it('whose file is missing are reported once to each listener, and are not started again', async () => {
    const [first, second, removed]: string[][] = [[], [], []]
    onThreadsMissing((message) => first!.push(message))
    onThreadsMissing((message) => removed!.push(message))()
    placeThreads(new URL('./nowhere/', import.meta.url))
    await once(startThread('scan-worker', start), 'error').catch(() => {})
    await expect.poll(() => first).toEqual([expect.stringContaining('The worker thread scan-worker cannot be started')])
    expect(() => startThread('scan-worker', start)).toThrow('cannot be started')
    onThreadsMissing((message) => second!.push(message))
    expect(() => startThread('scan-worker', start)).toThrow('cannot be started')
    expect([first!.length, second!.length, removed!.length]).toEqual([1, 1, 0])
  })

  it('are not started and not reported with the setting `inline`', () => {
    const reports: string[] = []
    const remove = onThreadsMissing((message) => reports.push(message))
    placeThreads('inline')
    expect(() => startThread('scan-worker', start)).toThrow('Worker threads are turned off.')
    remove()
    expect(reports).toEqual([])
  })
})
