import { createMirror, type Mirror } from '@skillstead/mirror'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createClock } from '../support/harness.ts'
import { makePlace } from '../support/places.ts'
import { startNode } from '../support/server-harness.ts'
import { openRegistry } from '../support/open-registry.ts'

const everySeconds = 60
const rounds = 4

describe.skipIf(inject('postgresUrl') === null)('the mirrors of three nodes on one PostgreSQL', () => {
  it('run each scheduled sync once in total', async () => {
    const clock = createClock()
    const upstream = await startNode({}, undefined, { clock })
    const place = await makePlace('PostgreSQL')
    const ending = [place.remove]
    onTestFinished(async () => {
      for (const end of ending.toReversed()) await end()
    })
    const reports: string[] = []
    const mirrors: Mirror[] = []
    for (let i = 0; i < 3; i++) {
      const registry = await openRegistry({ ...place.location, clock })
      const mirror = createMirror(registry, { onReport: ({ upstream: name }) => void reports.push(name) })
      mirrors.push(mirror)
      ending.push(async () => {
        await mirror.close()
        await registry.close()
      })
    }
    await mirrors[0]!.add('main', upstream.node.url, { everySeconds })
    for (const mirror of mirrors) mirror.start()
    for (let round = 1; round <= rounds; round++) {
      await expect.poll(() => reports.length).toBe(round)
      // Long enough for the other nodes to have seen that it was done.
      await new Promise((resolve) => void setTimeout(resolve, 600))
      expect(reports).toHaveLength(round)
      clock.advance(everySeconds * 1000)
    }
  })
})
