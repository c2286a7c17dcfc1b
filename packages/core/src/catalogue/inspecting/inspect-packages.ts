import { inspectAccess, readOutline, reportUnscanned, scanPackage, toUnreadOutline } from '@skillstead/scanner'
import { splitIntoBatches } from '../../kernel/batches.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { type Inspection, unreadAccess } from '../versions/inspection.ts'
import { askInspectThread } from './inspection-threads.ts'
import { keepScan, type Texts, toScanFiles, toPackageTexts } from './metadata-scan.ts'
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

/** Inspects a package in a worker thread. If the worker thread fails, this thread inspects the package. */
export async function inspectPackage(context: InspectionContext, item: Inspectable): Promise<Inspection> {
  const [inspection] = await inspectOrder(context, [item])
  return inspection!
}

/** As {@link inspectPackage} for many packages, in the same order: for imports. */
export async function inspectMany(context: InspectionContext, items: readonly Inspectable[]): Promise<Inspection[]> {
  const orders = splitIntoBatches(items, orderMax, ({ content }) => content.size)
  return (await Promise.all(orders.map((order) => inspectOrder(context, order)))).flat()
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

/** Inspects packages in a worker thread, or each alone after a crash or timeout, to identify the package at fault. */
async function inspectOrder(context: InspectionContext, items: readonly Inspectable[]): Promise<Inspection[]> {
  const bytes = items.reduce((sum, { content }) => sum + content.size, 0)
  const toPackage = ({ content, texts = {} }: Inspectable) => {
    return { files: content.sources.map(copyFileBytes), texts: toScanFiles(texts) }
  }
  const settings = { now: context.clock.now(), added: context.scanRules.added }
  const found = await askInspectThread(() => items.map(toPackage), bytes, settings)
  if (!found) return Promise.all(items.map(({ content }) => inspectHere(context, content)))
  return found.map(({ inspection, ofTexts }, i) => {
    const { texts } = items[i]!
    if (texts) keepScan(texts, ofTexts)
    return inspection!
  })
}

/** Copies bytes that are a view of a larger ArrayBuffer: the whole ArrayBuffer would be sent to the thread. */
function copyFileBytes({ path, bytes }: PackageFile): PackageFile {
  return { path, bytes: bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes) }
}
