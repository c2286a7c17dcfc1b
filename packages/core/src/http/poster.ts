import { RegistryError } from '@skillstead/protocol'
import type { Guard } from './connector.ts'
import { Connections } from './outgoing-connections.ts'
import { Exchange } from './http-exchange.ts'
import type { OutgoingPost } from './outgoing.ts'

/** POSTs over keep-alive connections, for receivers of many webhook deliveries. */
export interface Poster {
  post(url: URL, request: OutgoingPost): Promise<number>
  close(): Promise<void>
}

export function createPoster(guard: Guard): Poster {
  let opening: Promise<Connections> | undefined
  let isOver = false

  async function openConnections(): Promise<Connections> {
    // Loaded on first use: short commands make no outgoing requests.
    const { Client } = await import('undici')
    return new Connections(guard, Client)
  }

  return {
    async post(url, request) {
      const connections = await (opening ??= openConnections())
      if (isOver) throw toClosed()
      try {
        return await new Exchange(connections, url, request).run()
      } catch (error) {
        throw isOver ? toClosed(error) : error
      }
    },
    async close() {
      isOver = true
      await (await opening)?.close()
    },
  }
}

function toClosed(cause?: unknown): RegistryError {
  return new RegistryError('shutting_down', 'The node is shutting down.', { cause })
}
