import { toTimestamp } from '@skillstead/protocol'
import { inspectAccess, readOutline, reportUnscanned, scanPackage, toUnreadOutline } from '@skillstead/scanner'
import { LRUCache } from 'lru-cache'
import { splitIntoBatches } from '../../kernel/batches.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { type Inspection, unreadAccess } from '../versions/inspection.ts'
import { askInspectThread } from './inspection-threads.ts'
import { hasScan, keepScan, type Texts, toScanFiles, toPackageTexts } from './metadata-scan.ts'
import type { PackageFields } from '../versions/package-fields.ts'
import { emptySketch, sketchSkillMd } from '../sketches/sketch.ts'
import type { PackageFile, PackedContent } from '../versions/skill-package.ts'

/** A package to inspect. */
export interface Inspectable {
  readonly content: Pick<PackedContent, 'digest' | 'size' | 'sources'>
  /**
   * Metadata that will be stored with the package. The same thread scans the metadata, and {@link keepScan} caches the
   * result.
   */
  readonly texts?: Texts
}

/** What an inspection needs: the time, and the rules to apply. */
export type InspectionContext = Pick<CatalogueContext, 'clock' | 'scanRules'>

/** Packages per message. A thread gets its next message while it works on the previous message. */
const orderMax = { itemsMax: 12, bytesMax: 64 * 1024 }

const recentBytesMax = 8 * 1024 * 1024
/**
 * Recent inspections by content and rules, on which alone they depend except for the time: the same content is published
 * after a dry run, again without a change, and under other names. Only inspections of everything in a package are cached,
 * so that a failure is not repeated.
 */
const recent = new LRUCache<string, Inspection>({ maxSize: recentBytesMax, sizeCalculation: countInspectionBytes })

/** As {@link inspectMany} for one package. */
export async function inspectPackage(context: InspectionContext, item: Inspectable): Promise<Inspection> {
  const [inspection] = await inspectMany(context, [item])
  return inspection!
}

/**
 * Inspects packages in worker threads, each content once; returns the inspections in the same order. If a worker thread
 * fails, this thread inspects its packages. The digests must have been computed from the bytes.
 */
export async function inspectMany(context: InspectionContext, items: readonly Inspectable[]): Promise<Inspection[]> {
  const now = context.clock.now()
  const { version } = context.scanRules
  const found = new Map<string, Inspection>()
  const wanted = new Map<string, Inspectable>()
  for (const item of items) {
    const { digest } = item.content
    const known = recent.get(toRecentKey(digest, version))
    if (known) found.set(digest, known)
    else if (!wanted.has(digest)) wanted.set(digest, item)
  }
  const orders = items.flatMap((item): Order[] => {
    const isWanted = wanted.get(item.content.digest) === item
    return isWanted || (item.texts && !hasScan(item.texts, version)) ? [{ ...item, isWanted }] : []
  })
  const batches = splitIntoBatches(orders, orderMax, ({ content, isWanted }) => (isWanted ? content.size : 0))
  await Promise.all(
    batches.map(async (batch) => {
      const inspections = await inspectOrder(context, batch)
      for (const [i, { content }] of batch.entries()) {
        const inspection = inspections[i]
        if (!inspection) continue
        found.set(content.digest, inspection)
        if (isWhole(inspection)) recent.set(toRecentKey(content.digest, inspection.scan.rulesVersion), inspection)
      }
    }),
  )
  const scannedAt = toTimestamp(now)
  return items.map(({ content }) => {
    const inspection = found.get(content.digest)!
    return { ...inspection, scan: { ...inspection.scan, scannedAt } }
  })
}

/**
 * Inspects a package that was read from the database, always by a scan: the bytes may have been altered there, so the
 * stored digest does not identify them.
 */
export async function inspectStored(context: InspectionContext, content: Inspectable['content']): Promise<Inspection> {
  const [inspection] = await inspectOrder(context, [{ content, isWanted: true }])
  return inspection!
}

/** As {@link inspectMany} for items that contain packages and their metadata; returns the inspections by item. */
export async function inspectEach<Item extends { readonly content: PackedContent; readonly fields: PackageFields }>(
  context: InspectionContext,
  items: readonly Item[],
  getChangelog: (item: Item) => string | undefined,
): Promise<Map<Item, Inspection>> {
  const all = items.map((item) => ({ content: item.content, texts: toPackageTexts(item.fields, getChangelog(item)) }))
  const found = await inspectMany(context, all)
  return new Map(items.map((item, i) => [item, found[i]!]))
}

function toRecentKey(digest: string, rulesVersion: string): string {
  return `${digest} ${rulesVersion}`
}

/** Whether an inspection left nothing out, which a failure, a timeout or a limit would. */
function isWhole({ scan, access, outline }: Inspection): boolean {
  return [scan, access, outline].every(({ cut }) => cut.length === 0)
}

/** The approximate memory of an inspection. */
function countInspectionBytes({ sketch, terms, ...rest }: Inspection): number {
  return 2 * JSON.stringify(rest).length + 8 * (sketch.kept.length + sketch.lookedUp.length) + terms.length
}

/** A package whose inspection is wanted, or only the scan of its texts. */
interface Order extends Inspectable {
  readonly isWanted: boolean
}

/** Inspects packages in a worker thread, or each alone after a crash or timeout, to identify the package at fault. */
async function inspectOrder(
  context: InspectionContext,
  items: readonly Order[],
): Promise<readonly (Inspection | undefined)[]> {
  const bytes = items.reduce((sum, { content, isWanted }) => sum + (isWanted ? content.size : 0), 0)
  const toPackage = ({ content, texts = {}, isWanted }: Order) => {
    return { files: isWanted ? content.sources.map(copyFileBytes) : [], texts: toScanFiles(texts) }
  }
  const settings = { now: context.clock.now(), added: context.scanRules.added }
  const found = await askInspectThread(() => items.map(toPackage), bytes, settings)
  if (!found)
    return Promise.all(items.map(({ content, isWanted }) => (isWanted ? inspectHere(context, content) : undefined)))
  return found.map(({ inspection, ofTexts }, i) => {
    const { texts } = items[i]!
    if (texts) keepScan(texts, ofTexts)
    return inspection
  })
}

/** Copies bytes that are a view of a larger ArrayBuffer: the whole ArrayBuffer would be sent to the thread. */
function copyFileBytes({ path, bytes }: PackageFile): PackageFile {
  return { path, bytes: bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes) }
}

/**
 * Inspects a package in this thread, except that `scanPackage` scans a larger package in a thread of its own. A package
 * whose inspection fails is rated `caution`; the publish continues.
 */
async function inspectHere(
  { clock, scanRules }: InspectionContext,
  { sources, digest }: Inspectable['content'],
): Promise<Inspection> {
  const { added } = scanRules
  try {
    const [scan, access] = await Promise.all([scanPackage(sources, clock.now(), added), inspectAccess(sources)])
    return { scan, access, outline: readOutline(sources), ...sketchSkillMd(sources[0]!.bytes) }
  } catch {
    const scan = await reportUnscanned(sources, 'The inspection failed and was given up.', clock.now(), added)
    const outline = toUnreadOutline(digest)
    return { scan, access: unreadAccess, outline, sketch: emptySketch, terms: new Uint8Array() }
  }
}
