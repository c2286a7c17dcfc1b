import { existsSync, writeFileSync } from 'node:fs'
import { localApi, openRegistry, systemCaller, type Registry } from '@skillstead/core'
import { type Command } from '../command.ts'
import type { Output } from '../output.ts'
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
    const node = await listen(registry, here)
    tellAddress(node, output)
    await welcome(registry, node.url, output)
    await untilStopped(registry, node, output)
    return undefined
  },
  show: () => [],
}

async function welcome(registry: Registry, url: string, output: Output): Promise<void> {
  const api = localApi(registry, systemCaller)
  const { total } = await api.listUsers({ limit: 1 })
  if (total === 0) {
    const { username, key } = await api.createUser({ username: 'admin' })
    writeFileSync(keyFile, `${key}\n`, { mode: 0o600 })
    output.say(`Made the administrator '${username}'.`)
    const { total: skills } = await api.searchSkills({ limit: 1 })
    if (skills === 0) output.say(`Published ${(await publishExamples(registry)).length} example skills.`)
  }
  output.say(`  Search:   curl '${url}/api/v1/skills?q=changelog'`)
  output.say(`  API:      ${url}/docs`)
  if (existsSync(keyFile))
    output.say(
      `  Sign in:  with the key in ${keyFile}, as in: curl -H "Authorization: Bearer $(cat ${keyFile})" ${url}/api/v1/users/me`,
    )
}
