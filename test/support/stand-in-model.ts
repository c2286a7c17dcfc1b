import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Ajv2020 } from 'ajv/dist/2020.js'

interface Asked {
  tools: { name?: string; input_schema?: object; function?: { name: string; parameters: object } }[]
  messages: { role: string; content: unknown }[]
}

/**
 * Speaks OpenAI's chat completions and Anthropic's messages on loopback: calls the first tool that it is given, and then
 * says what heading it read in the result. Refuses tools as the real ones do.
 */
export async function startStandInModel(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const asked = (await json(request)) as Asked
    const answer = request.url === '/v1/messages' ? answerMessages(asked) : answerCompletions(asked)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

function answerCompletions({ tools, messages }: Asked): object {
  const { name, parameters } = tools[0]!.function!
  checkTool(name, parameters)
  const result = messages.find(({ role }) => role === 'tool')?.content
  const call = { id: 'call_1', type: 'function', function: { name, arguments: '{}' } }
  const message = result
    ? { role: 'assistant', content: say(name, result as string) }
    : { role: 'assistant', content: null, tool_calls: [call] }
  return { id: '1', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] }
}

function answerMessages({ tools, messages }: Asked): object {
  const { name = '', input_schema: schema = {} } = tools[0]!
  checkTool(name, schema)
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])) as Record<string, string>[]
  const result = blocks.find(({ type }) => type === 'tool_result')?.content
  const block = result
    ? { type: 'text', text: say(name, result) }
    : { type: 'tool_use', id: 'toolu_1', name, input: {} }
  return { id: '1', type: 'message', role: 'assistant', content: [block], stop_reason: 'end_turn' }
}

function checkTool(name: string, schema: object): void {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) throw new Error(`No tool may be called '${name}'.`)
  new Ajv2020().compile(schema)
}

function say(name: string, result: string): string {
  return `I called ${name}, and read: ${/^# .*$/m.exec(result)?.[0]}`
}
