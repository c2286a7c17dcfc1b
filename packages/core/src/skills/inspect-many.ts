import { availableParallelism } from 'node:os'
import { ScanPool } from '../scan/scan-pool.ts'
import { inspectPackage, type Inspection } from './inspect.ts'
import type { PackageFile, PackedContent } from './skill-package.ts'

/** What is asked of a thread: to look at some packages, one after the other. */
export interface InspectionOrder {
  readonly packages: readonly (readonly PackageFile[])[]
  readonly now: number
}

/** The source runs as it is; what is published has been compiled. */
const workerUrl = new URL(`./inspect-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
/** Looking takes longer than storing, so that not even two processors are left idle for want of threads. */
const workersMax = Math.min(3, availableParallelism())
/** So much is handed over at a time: the thread need not wait for the next while this one is busy. */
const orderPackages = 12
const orderBytes = 512 * 1024

const pool = new ScanPool<Inspection[], InspectionOrder>({ url: workerUrl, workersMax })

/** As `inspectPackage` of many, in other threads: for what comes in bulk. In the same order. */
export async function inspectMany(contents: readonly PackedContent[], now: number): Promise<Inspection[]> {
  const inspections = await Promise.all(toOrders(contents).map((order) => inspectOrder(order, now)))
  return inspections.flat()
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
  const found = await pool.ask({ packages: contents.map(({ sources }) => sources), now })
  return typeof found === 'object' ? found : Promise.all(contents.map((content) => inspectPackage(content, now)))
}
