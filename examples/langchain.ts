// Converts skills to LangChain tools for `model.bindTools(tools)` and `createAgent({ model, tools })`. Run it with
//   node --conditions=source examples/langchain.ts http://localhost:7545 tidy-csv code-review
import type { ToolCall } from '@langchain/core/messages/tool'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { createSkillClient, toTool } from '@skillstead/client'

const [baseUrl = 'http://localhost:7545', ...names] = process.argv.slice(2)
const client = createSkillClient({ baseUrl })
const skills = await client.loadMany(names.length > 0 ? names : ['tidy-csv'], { maxTokens: 4000 })
const tools = skills.map((skill) => new DynamicStructuredTool(toTool(skill, 'langchain')))

// An agent responds to each tool call of its model with a message that contains the skill.
for (const tool of tools) {
  const call: ToolCall = { type: 'tool_call', id: '1', name: tool.name, args: { input: 'Clean orders.csv' } }
  const { content } = await tool.invoke(call)
  console.log(`${tool.name}: ${String(content).length} characters of SKILL.md`)
}
