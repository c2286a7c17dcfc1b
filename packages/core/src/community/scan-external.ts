import { unescape } from 'node:querystring'
import { RegistryError, type SarifLog, type ScanReport } from '@skillstead/protocol'
import type { CommunityContext } from './community-context.ts'
import { toDigest } from '@skillstead/skill-format/archives'
import { scanPackage } from '@skillstead/scanner'
import type { WriteTransaction } from '../storage/writer.ts'
import { readExternalSkill } from './read-external.ts'
import { parseSource, type ExternalSource } from './external-source.ts'

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
export async function scanSource(
  context: CommunityContext,
  source: ExternalSource,
): Promise<{ report: ScanReport; text: string }> {
  const { address, text } = await readExternalSkill(context, source)
  return { report: await scanText(context, { path: toPath(address), text }, address), text }
}

/** Stores the result of a scan with the skill in the index, if it is there. */
export async function recordScan(trx: WriteTransaction, { url }: ExternalSource, report: ScanReport): Promise<void> {
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
