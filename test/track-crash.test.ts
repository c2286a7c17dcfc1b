import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import { localApi, openRegistry, systemCaller } from '@skillstead/core'
import { expect, it } from 'vitest'
import { skillMd } from './answers.ts'
import { makeFolder, startServer } from './cli-harness.ts'

it('an install that was answered survives a kill -9 of the node, and is counted once by the next', async () => {
  const data = await makeFolder()
  const path = join(data, 'skillstead.db')
  const registry = await openRegistry({ path })
  await localApi(registry, systemCaller).createUser({ username: 'alice' })
  await localApi(registry, await registry.getCaller('alice')).publishSkill({ skillMd: skillMd('kept') })
  await registry.close()

  const node = await startServer(['serve', '--data', data, '--port', '0', '--rate-limits', 'off'])
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
  await again.telemetry.flush()
  const { downloads } = await localApi(again).getSkill({ name: 'kept' })
  const [trend] = (await localApi(again).getTrending()).entries
  await again.close()
  // What was under way may have been committed without its answer coming through; nothing is counted twice.
  expect(downloads).toBeGreaterThanOrEqual(answered)
  expect(downloads).toBeLessThanOrEqual(sent)
  expect(trend!.installs).toBe(downloads)
})
