import { existsSync, writeFileSync } from 'node:fs'
import { guest, localApi, systemCaller, type Registry } from '@skillstead/core'
import { command } from '../../command/command.ts'
import { publishExamples } from '../../serving/example-skills.ts'
import { runNode } from '../../serving/run-node.ts'
import { serveOptions } from '../../serving/serve-options.ts'

const folder = '.skillstead'
const keyFile = `${folder}/admin-key`
const administrator = 'operator'

export const commands = {
  start: command({
    description: `Serve from ${folder}/ in the current folder. The first start creates an administrator and publishes the examples.`,
    options: serveOptions,
    run: (given, output) =>
      runNode({ ...given, options: { ...given.options, data: folder } }, serveOptions, output, async (registry) => {
        const news = await prepareFirstStart(registry)
        return { toLines: (url) => [...news, ...showWays(url)] }
      }),
  }),
}

/** On the first start creates an administrator, and the example skills if the registry is empty. Returns messages. */
async function prepareFirstStart(registry: Registry): Promise<string[]> {
  if (existsSync(keyFile)) return []
  const api = localApi(registry, systemCaller)
  const { total } = await api.searchSkills({ limit: 1, includeStubs: true })
  const key = await makeKey(registry)
  if (key === undefined) return []
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600, flag: 'wx' })
  const examples = total === 0 ? await publishExamples(registry) : []
  return [
    `Created the administrator '${administrator}'. The API key, also saved in ${keyFile}:`,
    `  ${key}`,
    ...(examples.length > 0 ? [`Published ${examples.length} example skills.`] : []),
  ]
}

/**
 * Creates a key for the administrator of a first start, also if an earlier start ended before it wrote the key down.
 * Returns undefined on a node with other users: their creator has a key.
 */
async function makeKey(registry: Registry): Promise<string | undefined> {
  const operator = await registry.getCaller(administrator).catch(() => undefined)
  if (operator) return (await localApi(registry, operator).createApiKey({ name: 'start' })).key
  if (!(await localApi(registry, guest).getSetup()).needed) return undefined
  return (await localApi(registry, systemCaller).createUser({ username: administrator })).key
}

function showWays(url: string): string[] {
  const ways = [
    ...(existsSync(keyFile) ? [`Sign in there as '${administrator}' with the key in ${keyFile}.`] : []),
    `  Search   curl '${url}/api/v1/skills?q=changelog'`,
    `  Read     ${url}/docs`,
  ]
  return [`The dashboard is at ${url}/`, ...ways]
}
