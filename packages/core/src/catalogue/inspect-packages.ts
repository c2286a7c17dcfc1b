import { availableParallelism } from 'node:os'
import { inspectAccess, scanPackage } from '@skillstead/scanner'
import { toThreadFile, WorkerPool } from '@skillstead/scanner/workers'
import { toSketch } from './sketch.ts'
import type { Inspection } from './inspection.ts'
import type { PackageFile, PackedContent } from './skill-package.ts'

/** What is asked of a thread: to look at some packages, one after the other. */
export interface InspectionOrder {
  readonly packages: readonly (readonly PackageFile[])[]
  readonly now: number
}

const workerUrl = toThreadFile(import.meta.url, 'inspect-worker')
/** Looking takes longer than storing, so that not even two processors are left idle for want of threads. */
const workersMax = Math.min(3, availableParallelism())
/** Handing over less than this costs more than looking at it. */
const inlineBytesMax = 1024
/** So much is handed over at a time. A thread has the next order in hand while it is at one. */
const orderPackages = 12
const orderBytes = 64 * 1024

const pool = new WorkerPool<Inspection[], InspectionOrder>({ url: workerUrl, workersMax })

/** Looks at a package before any transaction begins; at all but a small one in another thread. `now` in milliseconds since 1970. */
export async function inspectPackage(content: PackedContent, now: number): Promise<Inspection> {
  if (content.size <= inlineBytesMax) return inspectHere(content, now)
  const [inspection] = await inspectOrder([content], now)
  return inspection!
}

/** As {@link inspectPackage} of many, in the same order: for what comes in bulk. */
export async function inspectMany(contents: readonly PackedContent[], now: number): Promise<Inspection[]> {
  const inspections = await Promise.all(toOrders(contents).map((order) => inspectOrder(order, now)))
  return inspections.flat()
}

/** As {@link inspectMany} of what the packages belong to: what was found, by each of them. */
export async function inspectEach<Item extends { readonly content: PackedContent }>(
  items: readonly Item[],
  now: number,
): Promise<Map<Item, Inspection>> {
  const contents = items.map(({ content }) => content)
  const found = await inspectMany(contents, now)
  return new Map(items.map((item, i) => [item, found[i]!]))
}

async function inspectHere({ sources }: PackedContent, now: number): Promise<Inspection> {
  const scan = scanPackage(sources, now)
  const access = await inspectAccess(sources)
  return { scan: await scan, access, sketch: toSketch(sources[0]!.bytes) }
}

function toOrders(contents: readonly PackedContent[]): PackedContent[][] {
  const orders: PackedContent[][] = []
  let bytes = Infinity
  for (const content of contents) {
    const last = orders.at(-1)
    bytes += content.size
    if (last && last.length < orderPackages && bytes <= orderBytes) last.push(content)
    else {
      orders.push([content])
      bytes = content.size
    }
  }
  return orders
}

/** Where a thread breaks down or takes too long, each is looked at by itself, which tells which one it was. */
async function inspectOrder(contents: readonly PackedContent[], now: number): Promise<Inspection[]> {
  const bytes = contents.reduce((sum, { size }) => sum + size, 0)
  const found = await pool.ask(() => ({ packages: contents.map(({ sources }) => sources.map(detach)), now }), bytes)
  return typeof found === 'object' ? found : Promise.all(contents.map((content) => inspectHere(content, now)))
}

/** With bytes of its own: a small Buffer is a window of a large one, and all of that would be handed over. */
function detach({ path, bytes }: PackageFile): PackageFile {
  return { path, bytes: bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes) }
}
