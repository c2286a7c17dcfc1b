import { unescape } from 'node:querystring'
import { limits, RegistryError, type SarifLog, type ScanReport } from '@skillstead/protocol'
import { scanPackage } from '@skillstead/scanner'
import { parseSkillMd, readSkillFields } from '@skillstead/skill-format'
import { toDigest } from '@skillstead/skill-format/archives'
import type { ExternalSkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { CommunityContext } from './community-context.ts'
import { type ExternalSource, parseSource } from './external-source.ts'
import { readExternalSkill } from './read-external.ts'

interface ScanInput {
  url?: string
  content?: string
  format: 'json' | 'sarif'
}

/** POST /external/scan: scans submitted content or the content at a URL; the latter updates an indexed skill. */
export async function scanExternal(context: CommunityContext, input: ScanInput): Promise<ScanReport | SarifLog> {
  const report = await scan(context, input)
  if (input.format !== 'sarif') return report
  const { toSarif } = await import('@skillstead/scanner/rules')
  return toSarif(report)
}

/** Reads a source and scans it. */
async function scanSource(
  context: CommunityContext,
  source: ExternalSource,
): Promise<{ report: ScanReport; text: string }> {
  const { address, text } = await readExternalSkill(context, source)
  return { report: await scanText(context, { path: toPath(address), text }, address), text }
}

/** Stores the result of a scan with the skill in the index, if it is there. */
async function recordScan(trx: WriteTransaction, { url }: ExternalSource, report: ScanReport): Promise<void> {
  const { score, verdict, scannedAt } = report
  const change = { security_score: score, verdict, scanned_at: Date.parse(scannedAt) }
  await trx.updateTable('external_skills').set(change).where('url', '=', url).execute()
}

async function scan(context: CommunityContext, { url, content }: ScanInput): Promise<ScanReport> {
  if (url === undefined && content !== undefined)
    return scanText(context, { path: 'SKILL.md', text: content }, 'content')
  if (url === undefined || content !== undefined) throw refuseInput()
  const source = parseSource(url)
  const { report } = await scanSource(context, source)
  await context.database.writer.write((trx) => recordScan(trx, source, report))
  return report
}

async function scanText(
  { clock }: CommunityContext,
  { path, text }: { path: string; text: string },
  source: string,
): Promise<ScanReport> {
  const bytes = Buffer.from(text)
  return { ...(await scanPackage([{ path, bytes }], clock.now())), digest: toDigest(bytes), source }
}

function refuseInput(): RegistryError {
  const message = 'must be given unless the other one is'
  const errors = ['url', 'content'].map((path) => ({ path, message }))
  return new RegistryError('invalid_request', 'Specify either url or content, not both.', { errors })
}

/** The file name in the URL if it can be shown: after a redirect, the host chooses it. */
function toPath(address: string): string {
  const name = unescape(new URL(address).pathname.split('/').at(-1)!)
  return /^[^\p{C}/\\]+\.\w+$/u.test(name) ? name : 'SKILL.md'
}

const topic = 'external.scan'
const minuteMs = 60_000
/** After the last retry, the skill stays in the index without a scan. */
const retryDelaysMs = [minuteMs, 10 * minuteMs, 60 * minuteMs, 6 * 60 * minuteMs]

/** Schedules the scan of an indexed skill; at most one is pending per skill. */
export async function enqueueScan(context: CommunityContext, trx: WriteTransaction, id: string): Promise<void> {
  await context.outbox.enqueue(trx, { topic, payload: { id }, uniqueKey: `${topic} ${id}` })
}

/** Handles scan jobs of indexed skills from the outbox. */
export function handleExternalScans(context: CommunityContext): void {
  context.outbox.handle(topic, { retryDelaysMs, handle: ({ id }) => scanIndexed(context, String(id)) })
}

async function scanIndexed(context: CommunityContext, id: string): Promise<void> {
  const row = await context.database.read
    .selectFrom('external_skills')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return
  try {
    const source = parseSource(row.url)
    const { report, text } = await scanSource(context, source)
    await context.database.writer.write(async (trx) => {
      await recordScan(trx, source, report)
      await describe(trx, row, source, text)
    })
  } catch (error) {
    // A host that is not public is not retried.
    if (!(error instanceof RegistryError && error.code === 'invalid_request')) throw error
  }
}

/** Fills missing fields from the skill's own frontmatter. A name by which it was requested is unchanged. */
async function describe(
  trx: WriteTransaction,
  row: ExternalSkillRow,
  source: ExternalSource,
  text: string,
): Promise<void> {
  const { name, displayName, description } = readSkillFields(parseSkillMd(text))
  const written = toLine(name ?? displayName ?? '', nameCharactersMax)
  const isNameFree = source.rootIfNamed === undefined && row.name === source.name && written !== ''
  const change = {
    name: isNameFree ? written : row.name,
    description: row.description || toLine(description ?? '', limits.descriptionCharactersMax),
  }
  // Only if the row is unchanged: an administrator may have edited it meanwhile.
  const unchanged = trx.updateTable('external_skills').where('name', '=', row.name)
  await unchanged.set(change).where('description', '=', row.description).where('id', '=', row.id).execute()
}

const nameCharactersMax = 128

/** Text that both databases can store and that is safe to display. */
function toLine(text: string, charactersMax: number): string {
  return text
    .slice(0, charactersMax)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .toWellFormed()
}
