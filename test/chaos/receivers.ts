import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Outside } from '../support/outside.ts'

/** How receivers respond to deliveries. */
export type Mood = 'kind' | 'silent' | 'failing' | 'hanging up'

/** The documented number of attempts after which a node gives up a delivery. */
export const attemptsMax = 5

interface Published {
  readonly skill: { readonly fullName: string; readonly version: string }
}

/** Starts one local webhook receiver per name and counts the deliveries that each accepts. */
export async function openReceivers(outside: Outside, names: readonly string[]) {
  const taken = new Map(names.map((name) => [name, new Map<string, number>()]))
  const eventIds = new Map<string, Set<string>>()
  const rejected = new Map<string, number>()
  let mood: Mood = 'kind'

  async function receive(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { id, data } = JSON.parse(await text(request)) as { id: string; data: Published }
    const key = `${data.skill.fullName}@${data.skill.version}`
    if (mood !== 'kind') {
      rejected.set(key, (rejected.get(key) ?? 0) + 1)
      return reject(mood, request, response)
    }
    eventIds.set(key, (eventIds.get(key) ?? new Set()).add(id))
    const counts = taken.get(name)!
    counts.set(key, (counts.get(key) ?? 0) + 1)
    response.end()
  }
  for (const name of names) {
    // The request of a killed sender is incomplete, so that reading it fails.
    const listener = (request: IncomingMessage, response: ServerResponse) =>
      void receive(name, request, response).catch(() => {})
    outside.pages.set(`localhost/${name}`, listener)
  }
  const [{ port } = { port: 0 }] = await outside.resolver.lookup('localhost')
  return {
    toUrl: (name: string) => `https://localhost:${port}/${name}`,
    taken,
    eventIds,
    setMood: (next: Mood) => void (mood = next),
    /** Whether the receivers rejected a version so often that the node may have given up. */
    isGivenUp: (key: string) => (rejected.get(key) ?? 0) >= attemptsMax,
  }
}

export type Receivers = Awaited<ReturnType<typeof openReceivers>>

function reject(mood: Mood, request: IncomingMessage, response: ServerResponse): void {
  if (mood === 'failing') response.writeHead(500).end('Not now.')
  else if (mood === 'hanging up') request.socket.destroy()
  // In the mood 'silent' the receiver never responds.
}
