import {
  type ExternalSkill,
  RegistryError,
  toTimestamp,
  limits,
  isRegistryError,
  type ScanReport,
} from '@skillstead/protocol'
import type { AccountsContext } from '../accounts/accounts-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { newId } from '../kernel/ids.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { readPage } from '../storage/read-page.ts'
import type { ExternalSkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { parseSource, type ExternalSource } from './external-source.ts'
import { unescape } from 'node:querystring'
import { parseSkillMd, readSkillFields, toSlug } from '@skillstead/skill-format'
import { toDigest } from '@skillstead/skill-format/archives'
import type { InspectionContext } from '../catalogue/inspecting/inspect-packages.ts'
import { scanInThread } from '../catalogue/inspecting/inspection-threads.ts'
import { createOutgoing, type OutgoingOptions, type OutgoingResponse } from '../http/outgoing.ts'
import { hourMs, minuteMs, systemClock } from '../kernel/clock.ts'
import type { CommunityContext } from './community-context.ts'

/**
 * POST /external, for administrators: adds a skill to the index of external skills, or updates the given fields of an
 * indexed skill, and schedules a scan. Throws `invalid_request` for addresses that cannot be parsed or are not public.
 */
export const addExternal: Operation<'addExternal', AccountsContext> = async (context, input, caller) => {
  const source = parseSource(input.url)
  // The hosts of repositories are known to be public, so adding many skills needs no DNS query for each.
  if (source.repoUrl === '') await context.outgoing.requirePublic(source.candidates[0]!, 'url')
  return context.database.writer.write(async (trx) => {
    const indexed = trx.selectFrom('external_skills').selectAll().where('url', '=', source.url)
    const existing = await indexed.executeTakeFirst()
    const row = existing
      ? await updateExternal(trx, existing, input)
      : await insertExternal(trx, source, input, context.clock.now())
    await enqueueScan(context, trx, row.id)
    const action = existing ? 'external.update' : 'external.add'
    await recordAudit(trx, { caller, action, subject: row.url, at: context.clock.now() })
    return { status: existing ? 200 : 201, body: toExternalSkill(row) }
  })
}

/** DELETE /external/<id>, for administrators: removes a skill from the index of external skills. */
export const deleteExternal: Operation<'deleteExternal', StorageContext> = async (context, { id }, caller) => {
  await context.database.writer.write(async (trx) => {
    const row = await trx.deleteFrom('external_skills').where('id', '=', id).returning('url').executeTakeFirst()
    if (!row) throw new RegistryError('not_found', `There is no external skill '${id}'.`)
    await recordAudit(trx, { caller, action: 'external.delete', subject: row.url, at: context.clock.now() })
  })
}

/** Adds a skill to the index. Default of the name and the author: those of its source. */
export async function insertExternal(
  trx: WriteTransaction,
  source: ExternalSource,
  given: Omit<Input<'addExternal'>, 'url'>,
  now: number,
): Promise<ExternalSkillRow> {
  const row: ExternalSkillRow = {
    id: newId(),
    registry: source.registry,
    name: given.name ?? source.name,
    url: source.url,
    repo_url: source.repoUrl,
    description: given.description ?? '',
    author: given.author ?? source.author,
    installs: given.installs ?? 0,
    security_score: null,
    verdict: null,
    scanned_at: null,
    indexed_at: now,
  }
  await trx.insertInto('external_skills').values(row).execute()
  return row
}

async function updateExternal(
  trx: WriteTransaction,
  row: ExternalSkillRow,
  { name, description, author, installs }: Input<'addExternal'>,
): Promise<ExternalSkillRow> {
  const change = {
    name: name ?? row.name,
    description: description ?? row.description,
    author: author ?? row.author,
    installs: installs ?? row.installs,
  }
  await trx.updateTable('external_skills').set(change).where('id', '=', row.id).execute()
  return { ...row, ...change }
}

/** GET /external: most installed first. `verified` selects skills that were scanned, or those that were not. */
export const listExternal: Operation<'listExternal', StorageContext> = async (context, input) => {
  const { registry, verified } = input
  let matching = context.database.read.selectFrom('external_skills')
  if (registry !== 'all') matching = matching.where('registry', '=', registry)
  if (verified !== undefined) matching = matching.where('verdict', verified ? 'is not' : 'is', null)
  const sorted = matching.selectAll().orderBy('installs', 'desc').orderBy('name').orderBy('id')
  const { rows, paging } = await readPage(matching, sorted, input)
  return { externalSkills: rows.map(toExternalSkill), ...paging }
}

function toExternalSkill(row: ExternalSkillRow): ExternalSkill {
  return {
    id: row.id,
    name: row.name,
    registry: row.registry,
    url: row.url,
    repoUrl: row.repo_url,
    description: row.description,
    author: row.author,
    installs: row.installs,
    verified: row.verdict !== null,
    verdict: row.verdict,
    securityScore: row.security_score,
    scannedAt: row.scanned_at === null ? null : toTimestamp(row.scanned_at),
    indexedAt: toTimestamp(row.indexed_at),
  }
}

/** POST /external/scan: scans content, or the content at a URL. Stores the result for the URL of an indexed skill. */
export const scanExternal: Operation<'scanExternal', CommunityContext> = async (context, input) => {
  const report = await scanInput(context, input)
  if (input.format !== 'sarif') return report
  const { toSarif } = await import('@skillstead/scanner/rules')
  return toSarif(report, context.scanRules.added)
}

async function scanSource(context: CommunityContext, source: ExternalSource) {
  const { address, text } = await readExternalSkill(context, source)
  return { report: await scanSubmittedText(context, { path: toScannedPath(address), text }, address), text }
}

/** Stores the result of a scan with the skill, if the index has this skill. */
async function recordScan(trx: WriteTransaction, { url }: ExternalSource, report: ScanReport): Promise<void> {
  const { score, verdict, scannedAt } = report
  const change = { security_score: score, verdict, scanned_at: Date.parse(scannedAt) }
  await trx.updateTable('external_skills').set(change).where('url', '=', url).execute()
}

async function scanInput(context: CommunityContext, { url, content }: Input<'scanExternal'>): Promise<ScanReport> {
  if (url === undefined && content !== undefined)
    return scanSubmittedText(context, { path: 'SKILL.md', text: content }, 'content')
  if (url === undefined || content !== undefined) throw refuseScanInput()
  const source = parseSource(url)
  const { report } = await scanSource(context, source)
  await context.database.writer.write((trx) => recordScan(trx, source, report))
  return report
}

async function scanSubmittedText(
  { clock, scanRules }: InspectionContext,
  { path, text }: { path: string; text: string },
  source: string,
) {
  const bytes = Buffer.from(text)
  const settings = { now: clock.now(), added: scanRules.added }
  return { ...(await scanInThread([{ path, bytes }], settings)), digest: toDigest(bytes), source }
}

function refuseScanInput(): RegistryError {
  const message = 'is required unless the other of `url` and `content` is given'
  const errors = ['url', 'content'].map((path) => ({ path, message }))
  return new RegistryError('invalid_request', 'Specify either url or content, not both.', { errors })
}

/** The file name in the URL if it is printable, else SKILL.md: after a redirect, the host chooses the URL. */
function toScannedPath(address: string): string {
  const name = unescape(new URL(address).pathname.split('/').at(-1)!)
  return /^[^\p{C}/\\]+\.\w+$/u.test(name) ? name : 'SKILL.md'
}

const topic = 'external.scan'
/** Delays before the retries of a failed scan. After the last retry, the skill stays in the index without a scan. */
const retryDelaysMs = [minuteMs, 10 * minuteMs, hourMs, 6 * hourMs]

/** Schedules the scan of an indexed skill; at most one is pending per skill. */
export async function enqueueScan(context: AccountsContext, trx: WriteTransaction, id: string): Promise<void> {
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
      await fillMissingFields(trx, row, source, text)
    })
  } catch (error) {
    // A host that is not public is not retried.
    if (!isRegistryError(error, 'invalid_request')) throw error
  }
}

/** Fills missing fields from the skill's own frontmatter. A name from the request stays unchanged. */
async function fillMissingFields(trx: WriteTransaction, row: ExternalSkillRow, source: ExternalSource, text: string) {
  const { name, displayName, description } = readSkillFields(parseSkillMd(text))
  const written = toPrintableLine(name ?? displayName ?? '', nameCharactersMax)
  const isNameFree = source.rootIfNamed === undefined && row.name === source.name && written !== ''
  const change = {
    name: isNameFree ? written : row.name,
    description: row.description || toPrintableLine(description ?? '', limits.descriptionCharactersMax),
  }
  // Updates the row only if it is unchanged: an administrator may have edited it meanwhile.
  const unchanged = trx.updateTable('external_skills').where('name', '=', row.name)
  await unchanged.set(change).where('description', '=', row.description).where('id', '=', row.id).execute()
}

const nameCharactersMax = 128

/** One line of text that SQLite and PostgreSQL can store and that is safe to display. */
function toPrintableLine(text: string, charactersMax: number): string {
  return text
    .slice(0, charactersMax)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .toWellFormed()
}

const skillBytesMax = 10 * 1024 * 1024
/** Timeout in milliseconds for all candidate URLs of a source together. */
const readMs = 10_000

/**
 * Reads the SKILL.md of a source: the first candidate that has one. Throws `invalid_request` for hosts that are not
 * public, `upstream_failed` if there is no skill at the address, `upstream_timeout`.
 */
async function readExternalSkill(context: Pick<CommunityContext, 'outgoing' | 'clock'>, source: ExternalSource) {
  await context.outgoing.requirePublic(source.candidates[0]!, 'url')
  const until = context.clock.now() + readMs
  let reason = 'There is no SKILL.md at the URL.'
  for (const candidate of source.candidates) {
    const timeoutMs = until - context.clock.now()
    if (timeoutMs <= 0) throw new RegistryError('upstream_timeout', 'The host did not respond in time.')
    const response = await context.outgoing.get(candidate, { bytesMax: skillBytesMax, timeoutMs })
    const read = toSkillText(response)
    if ('text' in read && !isOtherSkill(source, candidate, read.text)) return { address: response.url, text: read.text }
    if ('reason' in read && response.status !== 404) reason = read.reason
  }
  throw new RegistryError('upstream_failed', reason)
}

function toSkillText({ status, contentType, bytes }: OutgoingResponse): { text: string } | { reason: string } {
  if (status !== 200) return { reason: `The host of the URL responded with status ${status}.` }
  if (/^(?:text\/html|application\/xhtml)/i.test(contentType)) return { reason: isPage }
  const text = decodeWithMark(bytes)
  if (text === undefined) return { reason: 'The content at the URL is not text in UTF-8.' }
  return /^\s*<(?:!doctype\s+html|html)\b/i.test(text.slice(0, 1000)) ? { reason: isPage } : { text }
}

const isPage = 'The URL is that of a web page. Specify the URL of the SKILL.md or its folder.'

/** Decodes the text with its byte order mark, so that digests match the bytes. */
function decodeWithMark(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Whether a candidate is the root SKILL.md of a repository and has another name than the requested skill: the file must
 * not be returned for every name that a caller requests.
 */
function isOtherSkill({ rootIfNamed, candidates }: ExternalSource, candidate: string, text: string): boolean {
  if (rootIfNamed === undefined || candidate !== candidates.at(-1)) return false
  const { name, nameSlug } = readSkillFields(parseSkillMd(text))
  return (name ?? nameSlug) !== toSlug(rootIfNamed)
}

/**
 * Reads the SKILL.md at a URL for callers without a registry. Reads from public hosts only, unless `options` allow
 * other networks. Throws `invalid_request`, `upstream_failed`, `upstream_timeout`.
 */
export async function readExternalText(url: string, options: OutgoingOptions = {}) {
  const source = parseSource(url)
  const outgoing = createOutgoing(options)
  try {
    return await readExternalSkill({ outgoing, clock: systemClock }, source)
  } finally {
    await outgoing.close()
  }
}
