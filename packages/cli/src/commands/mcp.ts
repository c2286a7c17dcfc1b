import { once } from 'node:events'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { guest } from '@skillstead/core'
import type { RegistryApi } from '@skillstead/protocol'
import { createMcpServer, localCatalogue, type McpServerOptions } from '@skillstead/server/mcp'
import { text, type Command } from '../command.ts'
import { untilInterrupted, type Io } from '../io.ts'
import { placeOptions, userOption, withApi } from '../place.ts'
import type { Output } from '../output.ts'

/** Over a network every skill of a list is a request, and a guest has sixty a minute. */
const remote: McpServerOptions = { pageSize: 10 }

/** `skillstead mcp`: nothing but messages of the protocol goes to standard output. */
export const mcp: Command<undefined> = {
  summary:
    'Gives a registry to an agent host that starts its MCP servers: it speaks the Model Context Protocol on standard ' +
    'input and output until the input ends. A node speaks it itself, at /mcp.',
  words: [],
  options: {
    ...userOption,
    'agent-token': {
      value: 'TOKEN',
      help: 'proves which agent reviews (or SKILLSTEAD_AGENT_TOKEN)',
      env: 'SKILLSTEAD_AGENT_TOKEN',
    },
    ...placeOptions,
  },
  printsItself: true,
  async run(given, output) {
    const options = { as: text(given, 'user'), otherwise: guest, agentToken: text(given, 'agent-token') }
    await withApi(
      given,
      (api, at) => serve(api, given.io, output, at ? { catalogue: localCatalogue(at.registry, at.caller) } : remote),
      options,
    )
    return undefined
  },
  show: () => [],
}

async function serve(api: RegistryApi, io: Io, output: Output, options: McpServerOptions): Promise<void> {
  if (io.stdin.isTTY) output.say('An agent host starts this command; it waits for messages on standard input.')
  const onError = (error: unknown) => output.warn(error instanceof Error ? error.message : String(error))
  const server = serveStdio(() => createMcpServer(api, { ...options, onError }), {
    maxSubscriptions: 0,
    transport: new StdioServerTransport(io.stdin, io.stdout),
  })
  await Promise.race([once(io.stdin, 'close'), untilInterrupted(io)])
  await server.close()
}
