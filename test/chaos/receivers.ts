import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Outside } from '../support/outside.ts'

/** How receivers take what is sent to them. */
export type Mood = 'kind' | 'silent' | 'failing' | 'hanging up'

/** After so many attempts a node gives up, as it says it does. */
export const attemptsMax = 5

interface Published {
  readonly skill: { readonly fullName: string; readonly version: string }
}

/** Receivers of webhooks on this machine, one for each of these names; what they took is counted. */
export async function openReceivers(outside: Outside, names: readonly string[]) {
  const taken = new Map(names.map((name) => [name, new Map<string, number>()]))
  const eventIds = new Map<string, Set<string>>()
  const turnedAway = new Map<string, number>()
  let mood: Mood = 'kind'

  async function receive(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { id, data } = JSON.parse(await text(request)) as { id: string; data: Published }
    const key = `${data.skill.fullName}@${data.skill.version}`
    if (mood !== 'kind') {
      turnedAway.set(key, (turnedAway.get(key) ?? 0) + 1)
      return turnAway(mood, request, response)
    }
    eventIds.set(key, (eventIds.get(key) ?? new Set()).add(id))
    const counts = taken.get(name)!
    counts.set(key, (counts.get(key) ?? 0) + 1)
    response.end()
  }
  for (const name of names) {
    // A sender that is killed leaves a request without its end.
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
    /** Whether a node may have given up on a version. */
    isGivenUp: (key: string) => (turnedAway.get(key) ?? 0) >= attemptsMax,
  }
}

export type Receivers = Awaited<ReturnType<typeof openReceivers>>

function turnAway(mood: Mood, request: IncomingMessage, response: ServerResponse): void {
  if (mood === 'failing') response.writeHead(500).end('Not now.')
  else if (mood === 'hanging up') request.socket.destroy()
  // And else there is never an answer.
}
