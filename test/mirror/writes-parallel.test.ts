import { afterEach, expect, it } from 'vitest'
import { describeDatabases } from '../support/harness.ts'
import { endMirrors } from '../support/mirror-harness.ts'
import { openPair, type WritingPair } from '../support/mirror-writes-acts.ts'

const opened: WritingPair[] = []
afterEach(async () => {
  await endMirrors()
  for (const pair of opened.splice(0)) await pair.close()
})

const skills = Array.from({ length: 8 }, (_, i) => `tea-${i}`)
const versions = ['1.0.0', '1.1.0', '1.2.0']
const most = 4
const patienceMs = 100

describeDatabases('writes of many skills', (open) => {
  it.each([
    ['by hand', false],
    ['from the outbox', true],
  ])('are sent %s four at a time, and those of one skill in order', async (_, works) => {
    const pair = await openPair(open, { works })
    opened.push(pair)
    const { promise: allHeld, resolve: goOn } = Promise.withResolvers<undefined>()
    let held = 0
    pair.network.fault = ({ method }) => {
      if (method !== 'PUT') return undefined
      held += 1
      // Nothing goes on before as many are under way as may be, and a moment later a further one is not.
      if (held === most) setTimeout(goOn, patienceMs)
      return allHeld
    }
    void allHeld.then(() => (mostHeld = held))
    let mostHeld = 0
    for (const version of versions) for (const name of skills) await pair.write(name, version, `In ${version}.`)
    if (!works) await pair.deliver()
    await expect.poll(pair.waiting).toEqual([])
    expect(mostHeld).toBe(most)
    const { entries } = await pair.upstream.test.api().getFeed({ limit: 100 })
    const told = entries.map(({ subject }) => subject).filter((subject) => subject.startsWith('alice/tea-'))
    for (const name of skills) {
      const own = told.filter((subject) => subject.startsWith(`alice/${name}@`))
      expect(own).toEqual(versions.map((version) => `alice/${name}@${version}`))
    }
    expect(pair.mirrored.errors).toEqual([])
  })
})
