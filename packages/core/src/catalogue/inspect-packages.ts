import { availableParallelism } from 'node:os'
import { inspectAccess, reportUnscanned, scanPackage } from '@skillstead/scanner'
import { toThreadFile, WorkerPool } from '@skillstead/scanner/workers'
import { type Inspection, unread } from './inspection.ts'
import { emptySketch, toSketch } from './sketch.ts'
import type { PackageFile, PackedContent } from './skill-package.ts'

/** A message to a worker thread: packages to inspect in order. */
export interface InspectionOrder {
  readonly packages: readonly (readonly PackageFile[])[]
  readonly now: number
}

const workerUrl = toThreadFile(import.meta.url, 'inspect-worker')
/** Inspecting takes longer than storing, so even with two processors two threads are used. */
const workersMax = Math.min(3, availableParallelism())
/** A package smaller than this costs more to send to a thread than to inspect here. */
const inlineBytesMax = 1024
/** Packages per message. A thread gets its next message while it works on one. */
const orderPackages = 12
const orderBytes = 64 * 1024

const pool = new WorkerPool<Inspection[], InspectionOrder>({ url: workerUrl, workersMax })

/** Inspects a package in a worker thread, or inline if it is small. `now` is in milliseconds since 1970. */
export async function inspectPackage(content: PackedContent, now: number): Promise<Inspection> {
  if (content.size <= inlineBytesMax) return inspectHere(content, now)
  const [inspection] = await inspectOrder([content], now)
  return inspection!
}

/** As {@link inspectPackage} for many packages, in the same order: for imports. */
export async function inspectMany(contents: readonly PackedContent[], now: number): Promise<Inspection[]> {
  const inspections = await Promise.all(toOrders(contents).map((order) => inspectOrder(order, now)))
  return inspections.flat()
}

/** As {@link inspectMany} for items that contain packages; returns the inspections by item. */
export async function inspectEach<Item extends { readonly content: PackedContent }>(
  items: readonly Item[],
  now: number,
): Promise<Map<Item, Inspection>> {
  const contents = items.map(({ content }) => content)
  const found = await inspectMany(contents, now)
  return new Map(items.map((item, i) => [item, found[i]!]))
}

/** Inspects a package in this thread. A package whose inspection fails is rated `caution`; the publish continues. */
async function inspectHere({ sources }: PackedContent, now: number): Promise<Inspection> {
  try {
    const [scan, access] = await Promise.all([scanPackage(sources, now), inspectAccess(sources)])
    return { scan, access, sketch: toSketch(sources[0]!.bytes) }
  } catch {
    const scan = await reportUnscanned(sources, 'The inspection failed and was given up.', now)
    return { scan, access: unread, sketch: emptySketch }
  }
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

/** If a thread crashes or times out, inspects each package separately, which identifies the one at fault. */
async function inspectOrder(contents: readonly PackedContent[], now: number): Promise<Inspection[]> {
  const bytes = contents.reduce((sum, { size }) => sum + size, 0)
  const found = await pool.ask(() => ({ packages: contents.map(({ sources }) => sources.map(detach)), now }), bytes)
  return typeof found === 'object' ? found : Promise.all(contents.map((content) => inspectHere(content, now)))
}

/** Copies the bytes: a small Buffer may be a view of a large one, all of which would be sent to the thread. */
function detach({ path, bytes }: PackageFile): PackageFile {
  return { path, bytes: bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes) }
}
