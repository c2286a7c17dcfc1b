import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import type { DeliveryChildOptions } from '../crash/delivery-child.ts'
import { describeDatabases } from '../support/harness.ts'
import { repetitions } from '../support/long.ts'
import { endMirrors } from '../support/mirror-harness.ts'
import { openPair, type WritingPair } from '../support/mirror-writes-acts.ts'

const opened: WritingPair[] = []
afterEach(async () => {
  await endMirrors()
  for (const pair of opened.splice(0)) await pair.close()
})

const kills = repetitions({ sampled: 3, whole: 12 })
const patienceMs = 240_000
const skills = ['tea', 'coffee', 'cocoa']
const versions = ['1.0.0', '1.1.0', '1.2.0']
const installs = 4

describeDatabases('a process that is killed while it sends writes', (open) => {
  it(
    'leaves every write to be completed once and in order, and every install to be reported at least once',
    async () => {
      const pair = await openPair(open)
      opened.push(pair)
      const { upstream, mirrored, network, ann } = pair
      for (const version of versions) for (const name of skills) await pair.write(name, version, `In ${version}.`)
      await ann.api.forkSkill({ name: 'alice/pdf', newName: 'my-pdf' })
      await ann.api.starSkill({ name: 'alice/pdf' })
      await ann.api.createReview({ name: 'alice/pdf', rating: 4, title: 'Good', body: 'It reads.' })
      for (let i = 0; i < installs; i += 1) await mirrored.test.api().track({ skillName: 'alice/pdf' })
      await expect.poll(async () => (await mirrored.mirror.outbox.list()).length).toBe(13)
      const errors: string[] = []
      for (let kill = 0; kill < kills; kill += 1) {
        const child = start(pair)
        child.on('message', (error) => void errors.push(String(error)))
        let left = 1 + Math.floor(Math.random() * 4)
        // The upstream performed the write, but the mirror never receives the response.
        network.fault = ({ method }) => {
          if (method === 'GET' || --left > 0) return undefined
          child.kill('SIGKILL')
          return { cut: 0 }
        }
        await once(child, 'close')
        network.fault = undefined
      }
      const last = start(pair)
      last.on('message', (error) => void errors.push(String(error)))
      expect((await once(last, 'close'))[0]).toBe(0)
      expect(errors).toEqual([])
      expect(await pair.waiting()).toEqual([])
      const there = upstream.test.api()
      const told = (await there.getFeed({ limit: 100 })).entries.map(({ type, subject }) => `${type} ${subject}`)
      const wanted = skills.flatMap((name) => versions.map((version) => `version alice/${name}@${version}`))
      const others = ['version alice/my-pdf@1.0.0', 'version alice/pdf@1.0.0']
      expect(told.toSorted()).toEqual([...wanted, ...others].toSorted())
      for (const name of skills) {
        expect(told.filter((entry) => entry.startsWith(`version alice/${name}@`))).toEqual(
          versions.map((version) => `version alice/${name}@${version}`),
        )
      }
      expect(await there.getSkill({ name: 'alice/pdf' })).toMatchObject({ stars: 1, forks: 1 })
      expect((await there.listReviews({ name: 'alice/pdf' })).reviews).toHaveLength(1)
      // A mirror without an account sends installs as a guest, for whom the upstream stores no idempotency keys.
      const countInstalls = async () => (await there.getSkill({ name: 'alice/pdf' })).downloads
      await expect.poll(countInstalls).toBeGreaterThanOrEqual(installs)
    },
    patienceMs,
  )
})

function start({ mirrored, secretKey }: WritingPair) {
  const { location } = mirrored.test
  const options: DeliveryChildOptions = { location, secretKey: Buffer.from(secretKey).toString('base64') }
  return fork(fileURLToPath(new URL('../crash/delivery-child.ts', import.meta.url)), [JSON.stringify(options)], {
    execArgv: ['--conditions=source'],
  })
}
