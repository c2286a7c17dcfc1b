// Keeps the cache of nginx-cache.conf up to date: follows the feed of a node, and requests the details of each skill that
// changed through the cache, which replaces what is stored. Runs on the machine of the cache until it is stopped.
//   node refresh-cache.ts http://127.0.0.1:7545 http://127.0.0.1:8080 [Host header of the clients]
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const waitSeconds = 30
const retryMs = 1000
/** Another node may answer the first request, and learn of the change up to a second later. */
const againMs = 2000
const suffixes = ['', '/skill.md', '/versions']

interface FeedPage {
  readonly entries: readonly { readonly subject: string }[]
  readonly next: number
  readonly head: number
}

const [node, cache, host = new URL(cache ?? 'http://').host] = process.argv.slice(2)
let next = await readHead()
console.log(`Following the changes after ${next}.`)
for (;;) {
  try {
    const page = await readFeed(next, waitSeconds)
    // A restored registry has a shorter log.
    next = page.head < next ? page.head : page.next
    const skills = new Set(page.entries.map(({ subject }) => subject.replace(/@.*$/, '')))
    await refresh(skills)
    setTimeout(() => void refresh(skills).catch(report), againMs)
  } catch (error) {
    report(error)
    await sleep(retryMs)
  }
}

async function readHead(): Promise<number> {
  return (await readFeed(0, 0, 1)).head
}

async function readFeed(since: number, wait: number, limit = 1000): Promise<FeedPage> {
  const response = await fetch(`${node}/api/v1/feed?since=${since}&limit=${limit}&wait=${wait}`)
  if (!response.ok) throw new Error(`The feed answered ${response.status}.`)
  return (await response.json()) as FeedPage
}

/** A skill also has the address of its short name, which may be that of another owner's. */
async function refresh(skills: ReadonlySet<string>): Promise<void> {
  for (const fullName of skills) {
    const names = [fullName, fullName.slice(fullName.indexOf('/') + 1)]
    const paths = names.flatMap((name) =>
      suffixes.map((suffix) => `/api/v1/skills/${encodeURIComponent(name)}${suffix}`),
    )
    await Promise.all(paths.map(refreshPath))
  }
}

/** `fetch` would replace the `Host`, which is part of the key of the cache. */
function refreshPath(path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const headers = { host, 'x-cache-refresh': '1' }
  request(new URL(path, cache), { headers }, (response) => response.resume().on('end', resolve).on('error', reject))
    .on('error', reject)
    .end()
  return promise
}

function report(error: unknown): void {
  console.error(error instanceof Error ? error.message : error)
}
