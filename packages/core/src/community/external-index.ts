import { type ExternalSkill, RegistryError, toTimestamp } from '@skillstead/protocol'
import type { AccountsContext } from '../accounts/accounts-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { newId } from '../kernel/ids.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { readPage } from '../storage/read-page.ts'
import type { ExternalSkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { parseSource, type ExternalSource } from './external-source.ts'
import { enqueueScan } from './scan-external.ts'

/**
 * POST /external, for administrators: indexes a skill, or updates the given fields of an indexed one, and schedules a
 * scan. Throws `invalid_request` for addresses that cannot be parsed or are not public.
 */
export const addExternal: Operation<'addExternal', AccountsContext> = async (context, input, caller) => {
  const source = parseSource(input.url)
  // Repository hosts are known, so long lists need no DNS query per line.
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

/** DELETE /external/<id>, for administrators. */
export const deleteExternal: Operation<'deleteExternal', StorageContext> = async (context, { id }, caller) => {
  await context.database.writer.write(async (trx) => {
    const row = await trx.deleteFrom('external_skills').where('id', '=', id).returning('url').executeTakeFirst()
    if (!row) throw new RegistryError('not_found', `There is no external skill '${id}'.`)
    await recordAudit(trx, { caller, action: 'external.delete', subject: row.url, at: context.clock.now() })
  })
}

/** Adds a skill to the index; fields that are not given come from its source. */
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
