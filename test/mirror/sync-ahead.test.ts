import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { readAhead } from '../../packages/mirror/src/log/read-ahead.ts'
import { describeInTurn } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'

afterEach(endMirrors)

describe('reading ahead', () => {
  it('yields items in order, and requests the next items meanwhile', async () => {
    const { items, seen } = count(5)
    const read: number[] = []
    for await (const item of readAhead(items, 2)) {
      const next = Math.min(item + 2, 4)
      await expect.poll(() => seen.asked.at(-1)).toBe(next)
      read.push(item)
    }
    expect(read).toEqual([0, 1, 2, 3, 4])
  })

  it('reports an error only after it yielded all earlier items', async () => {
    const read: number[] = []
    const reading = (async () => {
      for await (const item of readAhead(count(5, 2).items, 2)) read.push(item)
    })()
    await expect(reading).rejects.toThrow('2 fails.')
    expect(read).toEqual([0, 1])
  })

  it('waits for running requests if the reader stops early', async () => {
    const { items, seen } = count(5)
    for await (const item of readAhead(items, 2)) if (item === 1) break
    expect(seen).toEqual({ asked: [0, 1, 2, 3], ended: true })
  })
})

describeInTurn('a sync that reads ahead', (open) => {
  it('requests content only once if several versions share it', async () => {
    const upstream = await openUpstream(open)
    const { mirror, test } = await openMirror(open)
    const skillMd = '---\nname: big\ndescription: Much of it\n---\n# Big\n'
    const shared = toBytes('shared', 100_000)
    for (let i = 0; i < 6; i += 1) {
      const files = [toFile('own.bin', toBytes(`own ${i}`, 2_500_000)), toFile('shared.bin', shared)]
      await upstream.alice.api.publishSkill({ skillMd, version: `1.${i}.0`, files })
    }
    await mirror.add('main', upstream.url)
    const { bytes, applied } = await mirror.sync('main')
    expect(applied).toBe(6)
    expect(bytes).toBe(Buffer.byteLength(skillMd) + shared.length + 6 * 2_500_000)
    const [there, here] = [upstream.test, test].map(({ api }) => api().getSkill({ name: 'alice/big' }))
    expect((await here!).versions).toEqual((await there!).versions)
  })
})

/** Numbers, with a note of what was asked for and when it ended. */
function count(until: number, fails = Infinity) {
  const seen: { asked: number[]; ended: boolean } = { asked: [], ended: false }
  async function* items(): AsyncGenerator<number> {
    try {
      for (let i = 0; i < until; i += 1) {
        seen.asked.push(i)
        await new Promise((resolve) => setTimeout(resolve, 1))
        if (i === fails) throw new Error(`${i} fails.`)
        yield i
      }
    } finally {
      seen.ended = true
    }
  }
  return { items: items(), seen }
}

/** Bytes that nothing makes smaller, the same for the same seed. */
function toBytes(seed: string, length: number): Buffer {
  const parts = Array.from({ length: Math.ceil(length / 32) }, (_, i) =>
    createHash('sha256').update(`${seed} ${i}`).digest(),
  )
  return Buffer.concat(parts).subarray(0, length)
}

function toFile(path: string, bytes: Buffer) {
  return { path, content: bytes.toString('base64'), encoding: 'base64' as const }
}
