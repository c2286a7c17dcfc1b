// The worker thread of worker-thread.ts.
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import { openSkills } from '@skillstead/core'

type Order = { search: string } | { load: string } | { close: true }

const opening = openSkills({ path: 'skills.db', as: 'runtime' }).then(async (skills) => {
  await skills.importFolder(fileURLToPath(new URL('../skills', import.meta.url)))
  return skills
})

parentPort!.on('message', async (order: Order) => {
  const skills = await opening
  if ('search' in order) {
    const { skills: found } = await skills.search(order.search, { limit: 1 })
    parentPort!.postMessage({ fullName: found[0]?.fullName })
  } else if ('load' in order) {
    parentPort!.postMessage(await skills.load(order.load, { maxTokens: 500 }))
  } else {
    await skills.close()
    parentPort!.postMessage('closed')
  }
})
