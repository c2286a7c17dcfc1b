// A process that ends soon, such as a command or a serverless function. Run it in an empty folder with
//   node --conditions=source CLONE/examples/embedding/short-lived.ts
import { fileURLToPath } from 'node:url'
import { openSkills } from '@skillstead/core'

/** A deployment does this once. */
async function prepare(): Promise<void> {
  const skills = await openSkills({ path: 'skills.db', profile: 'short', as: 'runtime' })
  await skills.importFolder(fileURLToPath(new URL('../skills', import.meta.url)))
  await skills.close()
}

/** Each call does this. */
async function answer(question: string): Promise<string> {
  const skills = await openSkills({ path: 'skills.db', mode: 'read', profile: 'short' })
  const { skills: found } = await skills.search(question, { limit: 1 })
  const { metadata } = await skills.load(found[0]!.fullName, { level: 'summary' })
  await skills.close()
  return `${metadata.fullName}: ${metadata.description}`
}

await prepare()
console.log(await answer('clean csv'))
