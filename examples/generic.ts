// Prints the tools of the found skills, one per line: name, description and the JSON Schema of the parameters. For
// agents of your own, local models, and frameworks without an example here. Run it with
//   node --conditions=source examples/generic.ts http://localhost:7545 'clean a csv file'
import { createSkillClient, toTool } from '@skillstead/client'
import { toToolNames } from '@skillstead/skill-format/loading'

const [baseUrl = 'http://localhost:7545', query = 'clean a csv file'] = process.argv.slice(2)
const client = createSkillClient({ baseUrl })
const { skills } = await client.search(query, { limit: 3 })
const fullNames = skills.map(({ fullName }) => fullName)
const loaded = await client.loadMany(fullNames, { level: 'contract' })

// Skills of two owners may have the same name; tools may not.
const names = toToolNames(skills)
for (const [i, skill] of loaded.entries()) console.log(JSON.stringify(toTool(skill, 'generic', { name: names[i]! })))
