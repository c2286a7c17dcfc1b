// Passes a skill as a tool to a model of Anthropic. Run it with
//   ANTHROPIC_API_KEY=... node --conditions=source examples/anthropic.ts http://localhost:7545 tidy-csv 'How do I clean orders.csv?'
import Anthropic from '@anthropic-ai/sdk'
import type { MessageParam, ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages'
import { createSkillClient, toTool } from '@skillstead/client'

const [baseUrl = 'http://localhost:7545', name = 'tidy-csv', request = 'How do I clean orders.csv?'] =
  process.argv.slice(2)
const skill = await createSkillClient({ baseUrl }).load(name, { maxTokens: 4000 })
const tools = [toTool(skill, 'anthropic')]

const anthropic = new Anthropic()
const { ANTHROPIC_MODEL: model = 'claude-sonnet-5-5' } = process.env
const messages: MessageParam[] = [{ role: 'user', content: request }]
for (let turn = 0; turn < 5; turn++) {
  const { content } = await anthropic.messages.create({ model, max_tokens: 2000, messages, tools })
  messages.push({ role: 'assistant', content })
  for (const block of content) if (block.type === 'text') console.log(block.text)
  const results = content
    .filter((block) => block.type === 'tool_use')
    .map(({ id }): ToolResultBlockParam => ({ type: 'tool_result', tool_use_id: id, content: skill.fullContent ?? '' }))
  if (results.length === 0) break
  messages.push({ role: 'user', content: results })
}
