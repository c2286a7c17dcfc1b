import { once } from 'node:events'
import { guest } from '@skillstead/core'
import { toOneLine, type RegistryApi, toErrorText } from '@skillstead/protocol'
import { localCatalogue, serveStdio, type McpServerOptions } from '@skillstead/gateways/mcp'
import { command, textOption } from '../../command/command.ts'
import { placeOptions, userOption, withApi } from '../../registry/place.ts'
import { untilInterrupted, type Io } from '../../terminal/io.ts'
import { toJsonStream, type Output } from '../../terminal/output.ts'

/** Few skills per list: over a network each skill costs one request, and the plan `free` allows 60 per minute. */
const remote: McpServerOptions = { pageSize: 10 }

export const commands = {
  // Standard output carries only protocol messages.
  mcp: command({
    description:
      'Serve a registry to an agent host over the Model Context Protocol (MCP) on standard ' +
      'input and output, until the input ends. A running node also serves MCP itself, at /mcp.',
    options: {
      ...userOption,
      'agent-token': {
        value: 'TOKEN',
        help: 'the token that identifies the reviewing agent (or SKILLSTEAD_AGENT_TOKEN)',
        env: 'SKILLSTEAD_AGENT_TOKEN',
      },
      ...placeOptions,
    },
    printsItself: true,
    async run(given, output) {
      const options = { as: textOption(given, 'user'), otherwise: guest, agentToken: textOption(given, 'agent-token') }
      await withApi(
        given,
        (api, at) =>
          serveOverStdio(api, given.io, output, at ? { catalogue: localCatalogue(at.registry, at.caller) } : remote),
        options,
      )
      return undefined
    },
  }),
}

async function serveOverStdio(api: RegistryApi, io: Io, output: Output, options: McpServerOptions): Promise<void> {
  if (io.stdin.isTTY) output.say('An agent host starts this command; it waits for messages on standard input.')
  const onError = (error: unknown) => output.warn(toOneLine(toErrorText(error)))
  const server = serveStdio(api, { input: io.stdin, output: toJsonStream(io.stdout) }, { ...options, onError })
  await Promise.race([once(io.stdin, 'close'), untilInterrupted(io)])
  await server.close()
}
