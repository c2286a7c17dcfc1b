import { fillWorst, listWorstRequests, type WorstRequest, type WorstSizes } from '../support/worst-requests.ts'
import { openRegistry } from '../support/open-registry.ts'
import { startNode, type Child } from './children.ts'
import type { Figure } from './figures.ts'

/** The longest that a request may block the event loop. */
const blockedMsMost = 100

const full: WorstSizes = {
  skills: 600,
  files: 101,
  wideSkills: 120,
  packs: 100,
  packSkills: 500,
  versions: 1000,
  wideVersions: 100,
  wideFiles: 512,
  documentBytes: 9 * 1024 * 1024,
  pictureBytes: 5 * 1024 * 1024,
  items: 1000,
  values: 1_000_000,
}

/**
 * Sends the worst valid requests of each kind one after another, each twice, and prints for how long each blocked the
 * event loop of the node. Throws if one blocked it for too long.
 */
export async function benchBlocked(path: string, only = ''): Promise<Figure[]> {
  const registry = await openRegistry({ path })
  const key = await fillWorst(registry, full)
  await registry.close()
  const node = await startNode({ path })
  await node.vitals('warm')
  const requests = await listWorstRequests(node.url, full, key)
  // The first message loads the library of the protocol, once per process.
  await requests.find(({ title }) => title.startsWith('MCP'))!.request(node.url)
  await node.vitals('turns')
  const rows: Record<string, Measured> = {}
  const wrong: string[] = []
  for (const { title, status = 200, request } of requests) {
    if (!title.includes(only)) continue
    const [first, again] = [await measure(node, request), await measure(node, request)]
    const row = first.blocked > again.blocked ? first : again
    rows[title] = row
    if (row.status !== status) wrong.push(`${title}: answered ${row.status}, not ${status}.`)
    if (row.blocked > blockedMsMost) wrong.push(`${title}: blocked the event loop for ${row.blocked} ms.`)
  }
  await node.stop()
  console.log(
    '\nThe longest block of the event loop by a request, in ms: of processor time, and with what other programs took',
  )
  console.table(rows)
  if (wrong.length > 0) throw new Error(`Of ${Object.keys(rows).length} requests:\n${wrong.join('\n')}`)
  const value = Math.max(...Object.values(rows).map(({ blocked }) => blocked))
  return [
    {
      part: 'Blocked event loop, SQLite',
      name: 'longest block by one request',
      value,
      unit: 'ms',
      most: blockedMsMost,
    },
  ]
}

interface Measured {
  readonly status: number
  readonly wall: number
  /** In processor time, so that other programs of the machine count little. */
  readonly blocked: number
  readonly delay: number
}

async function measure(node: Child, request: WorstRequest['request']): Promise<Measured> {
  await node.vitals()
  const startMs = performance.now()
  const response = await request(node.url)
  await response.arrayBuffer()
  const wall = Math.round(performance.now() - startMs)
  const { delayMaxMs, turnCpuMs } = await node.vitals()
  return { status: response.status, wall, blocked: Math.round(turnCpuMs), delay: Math.round(delayMaxMs) }
}
