import type { RegistryOptions } from '@skillstead/core'
import { sql } from 'kysely'
import type { MemoryOf, StageName } from './memory.ts'

/** Opens a registry step by step as a node does, and reports what memory is in use after each step. */
const { location, words } = JSON.parse(process.argv[2]!) as { location: RegistryOptions; words: readonly string[] }
const stages: Partial<Record<StageName, MemoryOf>> = {}

/** What no one refers to any more is not counted. */
function record(stage: StageName): void {
  for (let i = 0; i < 2; i++) globalThis.gc!()
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
  stages[stage] = { objects: heapUsed, buffers: arrayBuffers, resident: rss }
}

record('node')
const { processIo } = await import('../../packages/cli/src/process-io.ts')
const { guest, localApi } = await import('@skillstead/core')
const { openRegistry } = await import('../support/open-registry.ts')
const { partsOf } = await import('@skillstead/core/internal')
const { createNode } = await import('@skillstead/server')
processIo.limitMemory?.()
record('code')
const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
const node = createNode(registry, { rates: 'off' })
const ask = async (path: string) => (await node.fetch(new Request(`http://localhost/api/v1${path}`))).json()
await ask('/skills')
record('database')
node.close()
await registry.close()

const warm = await openRegistry(location)
await partsOf(warm).search.warmed
record('index')
const api = localApi(warm, guest)
for (const q of words) await api.searchSkills({ q })
record('searches')
const serving = createNode(warm, { rates: 'off' })
for (let page = 1; ; page++) {
  const { skills, totalPages } = await api.searchSkills({ page, limit: 100 })
  for (const { fullName } of skills) {
    const path = `http://localhost/api/v1/skills/${encodeURIComponent(fullName)}`
    await (await serving.fetch(new Request(path))).arrayBuffer()
  }
  if (page >= totalPages) break
}
record('responses')
const author = localApi(warm, await warm.getCaller('bench'))
for (let i = 0; i < 8; i++) {
  const body = `${words.join(' ')} ${i}. `.repeat(20)
  await author.publishSkill({
    skillMd: `---\nname: memory-${i}\ndescription: Is published to start threads.\n---\n${body}`,
  })
}
record('threads')
const { rows } = await sql<{ cache_size: number }>`pragma cache_size`.execute(partsOf(warm).database.read)
// SQLite gives kibibytes as a negative number.
process.send!({ stages, pageCacheBytesMax: -rows[0]!.cache_size * 1024 })
serving.close()
process.once('message', async () => {
  await warm.close()
  process.exit(0)
})
