import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import { localApi, systemCaller } from '@skillstead/core'
import { partsOf, type StorageContext } from '@skillstead/core/internal'
import { expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder, startServerProcess } from '../support/cli-harness.ts'
import { openRegistry } from '../support/open-registry.ts'

it('acknowledged installs survive a kill -9 of the node, and the next process counts and reports each install once', async () => {
  const data = await makeFolder()
  const path = join(data, 'skillstead.db')
  const registry = await openRegistry({ path })
  await localApi(registry, systemCaller).createUser({ username: 'alice', plan: 'pro' })
  const alice = localApi(registry, await registry.getCaller('alice'))
  await alice.publishSkill({ skillMd: skillMd('kept') })
  // No receiver responds, so that all deliveries stay.
  const { id } = await alice.createWebhook({ url: 'https://receiver.invalid/', events: ['skill.downloaded'] })
  await registry.close()

  const node = await startServerProcess(['serve', '--data', data, '--port', '0', '--rate-limits', 'off'])
  const api = createClient({ baseUrl: node.url })
  let answered = 0
  let sent = 0
  const callers = Array.from({ length: 16 }, async () => {
    for (;;) {
      sent += 1
      await api.track({ skillName: 'kept' })
      answered += 1
      if (answered === 500) void node.stop('SIGKILL')
    }
  })
  await Promise.allSettled(callers)
  await node.stop('SIGKILL')
  expect(answered).toBeGreaterThanOrEqual(500)

  const again = await openRegistry({ path })
  await partsOf(again).telemetry.flush()
  const { downloads } = await localApi(again).getSkill({ name: 'kept' })
  const [trend] = (await localApi(again).getTrending()).entries
  const told = await readDownloads(partsOf(again), id)
  await again.close()
  // Installs in progress may have been committed without a response; none is counted twice.
  expect(downloads).toBeGreaterThanOrEqual(answered)
  expect(downloads).toBeLessThanOrEqual(sent)
  expect(trend!.installs).toBe(downloads)
  expect(told.toSorted((a, b) => a - b)).toEqual(Array.from({ length: downloads }, (_, i) => i + 1))
})

/** The counts in the deliveries of a webhook. */
async function readDownloads({ database }: StorageContext, webhookId: string): Promise<number[]> {
  const rows = await database.read.selectFrom('outbox').select('payload').where('partition', '=', webhookId).execute()
  return rows.map(({ payload }) => {
    const { body } = JSON.parse(payload) as { body: string }
    return (JSON.parse(body) as { data: { downloadCount: number } }).data.downloadCount
  })
}
