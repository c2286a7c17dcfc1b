import { existsSync, writeFileSync } from 'node:fs'
import { localApi, openRegistry, systemCaller, type Registry } from '@skillstead/core'
import type { Command } from '../command.ts'
import { toLocation } from '../place.ts'
import { publishExamples } from '../example-skills.ts'
import { limitYoungMemory, listen, serveOptions, tellAddress, untilStopped } from './serve.ts'

const folder = '.skillstead'
const keyFile = `${folder}/admin-key`

/** `skillstead start`: a node for trying things out, with everything that a newcomer needs. */
export const start: Command<undefined> = {
  summary: `Serves from ${folder}/ in the current folder; makes an administrator and publishes the examples at first.`,
  words: [],
  options: serveOptions,
  async run(given, output) {
    limitYoungMemory()
    const here = { ...given, options: { ...given.options, data: folder } }
    const registry = await openRegistry(toLocation(here, { make: true }))
    const news = await furnish(registry)
    const node = await listen(registry, here)
    tellAddress(node, output)
    for (const line of [...news, ...showWays(node.url)]) output.say(line)
    await untilStopped(registry, node, output)
    return undefined
  },
  show: () => [],
}

/** On a first start: an administrator, and example skills where there are no others. Says what it made. */
async function furnish(registry: Registry): Promise<string[]> {
  const api = localApi(registry, systemCaller)
  if ((await api.listUsers({ limit: 1 })).total > 0) return []
  const { username, key } = await api.createUser({ username: 'operator' })
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600 })
  const { total } = await api.searchSkills({ limit: 1, includeStubs: true })
  const examples = total === 0 ? await publishExamples(registry) : []
  return [
    `Made the administrator '${username}'; the key is in ${keyFile}.`,
    ...(examples.length > 0 ? [`Published ${examples.length} example skills.`] : []),
  ]
}

function showWays(url: string): string[] {
  const lines = [`  Search   curl '${url}/api/v1/skills?q=changelog'`, `  Read     ${url}/docs`]
  if (!existsSync(keyFile)) return lines
  return [...lines, `  Sign in  curl -H "Authorization: Bearer $(cat ${keyFile})" ${url}/api/v1/users/me`]
}
