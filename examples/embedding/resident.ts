// A resident service, which follows the changes of all processes. Run it in an empty folder with
//   node --conditions=source CLONE/examples/embedding/resident.ts
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { openSkills } from '@skillstead/core'

const skills = await openSkills({ path: 'skills.db', as: 'runtime' })

// The position of the last change that an earlier run processed. Ask for the changes before the first read.
const position = await readFile('position', 'utf8').catch(() => undefined)
const changes = skills.changes({ from: position })

const { versionsCreated } = await skills.importFolder(fileURLToPath(new URL('../skills', import.meta.url)))
console.log(`imported ${versionsCreated} skills`)

const { skills: found } = await skills.search('clean csv', { limit: 5 })
const { fullName } = found[0]!
const skill = await skills.load(fullName, { maxTokens: 2000 })
const tool = skills.toTool(skill, 'openai')
console.log(`${fullName} is the tool ${tool.function.name}`)

await skills.api.deleteSkill({ name: fullName })
for await (const change of changes) {
  if (change.type !== 'published') console.log(change.type, change.type === 'reset' ? '' : change.fullName)
  await writeFile('position', change.position)
  // A service continues until it is stopped; this example ends here.
  if (change.type === 'removed') break
}
await skills.close()
