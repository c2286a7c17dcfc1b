import { isRegistryError, localApi, openRegistry } from '@skillstead/core'

/**
 * Opens each path for reading and searches for a skill, as the user of this process. Prints, as JSON, for each path the
 * names of the found skills or the error's code.
 */
const results: Record<string, unknown> = {}
for (const path of process.argv.slice(2)) results[path] = await read(path)
process.stdout.write(JSON.stringify(results))

async function read(path: string): Promise<unknown> {
  try {
    await using registry = await openRegistry({ path, mode: 'read' })
    const api = localApi(registry)
    const { skills } = await api.searchSkills({ q: 'tea' })
    for (const { fullName } of skills) await api.getArchive({ name: fullName })
    return skills.map(({ fullName }) => fullName)
  } catch (error) {
    if (isRegistryError(error)) return { code: error.code, message: error.message }
    return { thrown: String(error) }
  }
}
