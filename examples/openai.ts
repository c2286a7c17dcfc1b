// Passes a skill as a tool to a model of OpenAI, or of a provider with the same API (OPENAI_BASE_URL). Run it with
//   OPENAI_API_KEY=... node --conditions=source examples/openai.ts http://localhost:7545 tidy-csv 'How do I clean orders.csv?'
import { createSkillClient, toTool } from '@skillstead/client'
import OpenAI from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'

const [baseUrl = 'http://localhost:7545', name = 'tidy-csv', request = 'How do I clean orders.csv?'] =
  process.argv.slice(2)
const skill = await createSkillClient({ baseUrl }).load(name, { maxTokens: 4000 })
const tools = [toTool(skill, 'openai')]

const openai = new OpenAI()
const { OPENAI_MODEL: model = 'gpt-5.4-mini' } = process.env
const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: request }]
for (let turn = 0; turn < 5; turn++) {
  const { choices } = await openai.chat.completions.create({ model, messages, tools })
  const { message } = choices[0]!
  messages.push(message)
  if (!message.tool_calls?.length) {
    console.log(message.content)
    break
  }
  for (const { id } of message.tool_calls)
    messages.push({ role: 'tool', tool_call_id: id, content: skill.fullContent ?? '' })
}
