import { partsOf } from '@skillstead/core/internal'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBytePins } from '../../packages/gateways/src/git/byte-pins.ts'
import { createPackEntries } from '../../packages/gateways/src/git/pack-entries.ts'
import { createVersionTrees } from '../../packages/gateways/src/git/version-trees.ts'
import { codeOf } from '../support/answers.ts'
import { startGit } from '../support/git-acts.ts'

const waitMs = 1000
const never = () => expect.unreachable()

describe('memory for large objects', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('is shared by the users of an object, and waited for in order', async () => {
    const pins = createBytePins({ bytesMax: 100, waitMs })
    const first = await pins.pin('a', 80, never)
    const second = await pins.pin('a', 80, never)
    const admitted: string[] = []
    const admit = async (id: string, bytes: number) => {
      const release = await pins.pin(id, bytes, never)
      admitted.push(id)
      release()
    }
    const admissions = [admit('b', 90), admit('c', 10)]
    first()
    first()
    await vi.advanceTimersByTimeAsync(waitMs / 2)
    expect(admitted).toEqual([])
    second()
    await Promise.all(admissions)
    expect(admitted).toEqual(['b', 'c'])
  })

  it('is taken from a client that reads slowly, if another one waits for it', async () => {
    const pins = createBytePins({ bytesMax: 100, waitMs })
    const slow = vi.fn<() => void>()
    const releaseSlow = await pins.pin('slow', 60, slow)
    slow.mockImplementation(releaseSlow)
    await vi.advanceTimersByTimeAsync(10 * waitMs)
    expect(slow).not.toHaveBeenCalled()
    const releaseFast = await pins.pin('fast', 30, never)
    const waiting = pins.pin('waiting', 50, never)
    await vi.advanceTimersByTimeAsync(waitMs / 2)
    releaseFast()
    expect(slow).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(waitMs / 2)
    expect(slow).toHaveBeenCalledOnce()
    expect(await waiting).toBeTypeOf('function')
  })

  it('is refused if the others do not end', async () => {
    const pins = createBytePins({ bytesMax: 100, waitMs })
    const release = await pins.pin('a', 100, () => {})
    const refused = codeOf(pins.pin('b', 1, never))
    await vi.advanceTimersByTimeAsync(2 * waitMs)
    expect(await refused).toBe('overloaded')
    release()
    expect(await pins.pin('b', 1, never)).toBeTypeOf('function')
  })
})

it('the memory for large objects is free again after aborted responses', async () => {
  const entries = createPackEntries(async function* (blobs) {
    for (const { digest } of blobs) yield [digest, Buffer.from(digest)]
  })
  const read = (n: number) => {
    const id = `${n}`.padStart(40, '0')
    return entries.read([{ kind: 'blob', id, digest: id, size: 40 * 2 ** 20 }], never)
  }
  for (let n = 0; n < 3; n++) {
    const response = read(n)
    expect((await response.next()).done).toBe(false)
    await response.return(undefined)
  }
})

it('the tree of a version is found after another one with its digest was deleted', async () => {
  const { registry } = await startGit()
  const context = partsOf(registry)
  const select = context.database.read.selectFrom('versions').select(['id', 'digest'])
  const { id, digest } = await select.where('version', '=', '1.0.0').executeTakeFirstOrThrow()
  const trees = createVersionTrees(context)
  const deleted = { id: 'deleted', digest }
  expect(await trees.findRoots([deleted])).toEqual(new Map())
  expect([...(await trees.findRoots([{ id, digest }])).keys()]).toEqual([digest])
})
