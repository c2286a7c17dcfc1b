// An agent that searches for skills, lists them within a budget, loads the skill that it calls within another budget,
// and continues with a tool of its own. The model is simulated: replace `askModel` with yours. Run it with
//   node --conditions=source examples/agent-loop.ts                        in this process, with the skills of examples/skills
//   node --conditions=source examples/agent-loop.ts --http                 the same over HTTP, from a node of its own
//   node --conditions=source examples/agent-loop.ts http://localhost:7545  over HTTP, from a running node
import { readFileSync, readdirSync } from 'node:fs'
import { createSkillClient, type SkillClient } from '@skillstead/client'
import { localApi, openRegistry, systemCaller } from '@skillstead/core'
import { planListing, toTool, toToolNames, type GenericTool } from '@skillstead/skill-format/loading'
import { listenNode } from '@skillstead/server'

interface Message {
  role: 'user' | 'assistant' | 'tool'
  content: string
  call?: { name: string; args: Record<string, string> }
}

const task = 'Clean this messy CSV: name;born\nAda;1815\nAlan;1912'
const turnsMax = 10
const listingCharactersMax = 1000
let tokensLeft = 1500

const { client, close } = await openClient(process.argv[2])

const { skills } = await client.search('clean a messy csv file', { limit: 5 })
const plan = planListing(skills, listingCharactersMax)
console.log(
  `${skills.length} found; ${plan.keep.length + plan.shorten.length} listed for ${plan.plannedCost} characters`,
)

const descriptions = new Map([...skills.entries()].map(([index, { description }]) => [index, description]))
for (const { index, description } of plan.shorten) descriptions.set(index, description)
for (const { index } of plan.drop) descriptions.delete(index)
const listed = [...descriptions].map(([index, description]) => ({ ...skills[index]!, description }))
const contracts = await client.loadMany(
  listed.map(({ fullName }) => fullName),
  { level: 'contract' },
)
const names = toToolNames(listed)
const skillTools = contracts.map((skill, i) => ({
  ...toTool(skill, 'generic', { name: names[i]! }),
  description: listed[i]!.description,
}))
const countTool: GenericTool = {
  name: 'count_separators',
  description: 'Counts commas, semicolons and tabs.',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}

const messages: Message[] = [{ role: 'user', content: task }]
for (let turn = 0; turn < turnsMax; turn++) {
  const message = askModel(messages, [...skillTools, countTool])
  messages.push(message)
  if (!message.call) break
  const { name, args } = message.call
  console.log(`the model calls ${name}`)
  const content = name === countTool.name ? countSeparators(args.text ?? '') : await readSkill(names.indexOf(name))
  messages.push({ role: 'tool', content })
}
console.log(messages.at(-1)!.content)
await close()

/** The result of calling a skill: as much of the skill as the remaining budget allows. */
async function readSkill(index: number): Promise<string> {
  const skill = await client.load(listed[index]!.fullName, { maxTokens: tokensLeft, priority: ['Steps'] })
  // Estimate four characters per token; the node counts exactly, so no load exceeds the remaining budget.
  tokensLeft -= Math.ceil(JSON.stringify(skill).length / 4)
  console.log(`${skill.metadata.fullName} is read, ${skill.truncated.length} sections left out`)
  return skill.fullContent ?? skill.summary ?? ''
}

function countSeparators(text: string): string {
  return JSON.stringify(Object.fromEntries([',', ';', '\t'].map((mark) => [mark, text.split(mark).length - 1])))
}

/** Simulates a model: reads the skill with most words of the task, runs the step that it names, then answers. */
function askModel(said: readonly Message[], tools: readonly GenericTool[]): Message {
  const results = said.filter(({ role }) => role === 'tool')
  const words = new Set(said[0]!.content.toLowerCase().match(/[a-z]+/g))
  const matches = ({ description }: GenericTool) =>
    description
      .toLowerCase()
      .match(/[a-z]+/g)
      ?.filter((word) => words.has(word)).length ?? 0
  if (results.length === 0) {
    const best = tools.toSorted((a, b) => matches(b) - matches(a))[0]!
    return { role: 'assistant', content: '', call: { name: best.name, args: {} } }
  }
  if (results.length === 1 && /Count commas, semicolons and tabs/.test(results[0]!.content))
    return { role: 'assistant', content: '', call: { name: 'count_separators', args: { text: said[0]!.content } } }
  return { role: 'assistant', content: `The separators are ${results.at(-1)!.content}.` }
}

async function openClient(place: string | undefined): Promise<{ client: SkillClient; close: () => Promise<void> }> {
  if (place?.startsWith('http')) {
    return { client: createSkillClient({ baseUrl: place }), close: () => Promise.resolve() }
  }
  const registry = await openRegistry({ path: ':memory:' })
  await localApi(registry, systemCaller).createUser({ username: 'alice' })
  const alice = localApi(registry, await registry.getCaller('alice'))
  const folder = new URL('skills/', import.meta.url)
  for (const name of readdirSync(folder))
    await alice.publishSkill({ skillMd: readFileSync(new URL(`${name}/SKILL.md`, folder), 'utf8') })
  if (place !== '--http')
    return { client: createSkillClient({ api: localApi(registry) }), close: () => registry.close() }
  const node = await listenNode(registry, { port: 0 })
  const stop = () => node.close().then(() => registry.close())
  return { client: createSkillClient({ baseUrl: node.url }), close: stop }
}
