import { RegistryError, isSkillName, isUsername, reservedOwners } from '@skillstead/protocol'
import { toSlug } from '@skillstead/skill-format'
import type { Kysely } from 'kysely'
import { ensureNamespace } from '../accounts/users.ts'
import { guest } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { CommunityContext } from './community-context.ts'
import { putStub } from '../catalogue/skill-rows.ts'
import type { ExternalSkillRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { UsedSkill } from '../catalogue/use-counts.ts'
import { insertExternal } from './external-index.ts'
import { enqueueScan } from './scan-external.ts'
import { parseRepoUrl, parseSource } from './external-source.ts'

interface ExternalInstall {
  skillName: string
  source: 'github' | 'external'
  repoUrl?: string | undefined
}

/** A skill in a GitHub repository, by the name in the install. */
interface InRepository {
  readonly repoUrl: string
  /** The GitHub account. */
  readonly owner: string
  readonly name: string
}

/**
 * Counts an install of an external skill in the index. An unknown GitHub skill is indexed and gets a stub here; each
 * address may cause a limited number per hour, and further ones are accepted but not stored. Returns the local skill or
 * stub, or null. Throws `invalid_request` that names `repoUrl`.
 */
export async function recordExternalInstall(
  context: CommunityContext,
  { skillName, source, repoUrl }: ExternalInstall,
  options: CallOptions,
): Promise<UsedSkill | null> {
  const name = toSlug(skillName.split('/').at(-1)!)
  if (source === 'external') return recordByName(context, name)
  const repository = parseRepoUrl(repoUrl ?? '')
  if (!repository) throw refuseRepoUrl()
  // The name contains nothing to look for in a repository.
  if (name === '') return null
  return recordInRepository(context, { ...repository, name }, options)
}

/** Without a repository, the name must be unique in the index. */
async function recordByName(context: CommunityContext, name: string): Promise<UsedSkill | null> {
  const rows = await context.database.read
    .selectFrom('external_skills')
    .selectAll()
    .where('name', '=', name)
    .limit(2)
    .execute()
  const [row] = rows
  if (!row || rows.length > 1) return null
  await context.database.writer.write((trx) => countInstall(trx, row.id))
  const repository = parseRepoUrl(row.repo_url)
  return repository ? findLocal(context.database.read, { ...repository, name }) : null
}

async function recordInRepository(
  context: CommunityContext,
  skill: InRepository,
  options: CallOptions,
): Promise<UsedSkill | null> {
  const known = await findIndexed(context.database.read, skill)
  if (known) {
    await context.database.writer.write((trx) => countInstall(trx, known.id))
    return findLocal(context.database.read, skill)
  }
  const mayIndex = await context.addressLimits.take('indexing', options.address)
  if (!mayIndex) return findLocal(context.database.read, skill)
  return context.database.writer.write(async (trx) => {
    // A concurrent first install may have indexed it.
    const row = await findIndexed(trx, skill)
    if (row) await countInstall(trx, row.id)
    else await indexSkill(context, trx, skill)
    return (await findLocal(trx, skill)) ?? makeStub(context, trx, skill)
  })
}

async function findIndexed(db: Kysely<Tables>, skill: InRepository): Promise<ExternalSkillRow | undefined> {
  return db
    .selectFrom('external_skills')
    .selectAll()
    .where('repo_url', '=', skill.repoUrl)
    .where((eb) => eb.or([eb('name', '=', skill.name), eb('url', '=', toUrl(skill))]))
    .orderBy('registry')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

async function countInstall(trx: WriteTransaction, id: string): Promise<void> {
  await trx
    .updateTable('external_skills')
    .set((eb) => ({ installs: eb('installs', '+', 1) }))
    .where('id', '=', id)
    .execute()
}

async function indexSkill(context: CommunityContext, trx: WriteTransaction, skill: InRepository): Promise<void> {
  const source = { ...parseSource(toUrl(skill)), author: skill.owner }
  const { id } = await insertExternal(trx, source, { installs: 1 }, context.clock.now())
  await enqueueScan(context, trx, id)
}

function toUrl({ repoUrl, name }: InRepository): string {
  return `${repoUrl}#@${name}`
}

/** The public skill here from the same repository under its owner's name: a stub or an imported skill. */
async function findLocal(db: Kysely<Tables>, skill: InRepository): Promise<UsedSkill | null> {
  const row = await db
    .selectFrom('skills')
    .select(['id', 'owner_id', 'repository'])
    .where('full_name', '=', `${toNamespace(skill)}/${skill.name}`)
    .where('state', '=', 'live')
    .where('visibility', '=', 'public')
    .executeTakeFirst()
  const isFrom = row && parseRepoUrl(row.repository)?.repoUrl === skill.repoUrl
  return isFrom ? { id: row.id, ownerId: row.owner_id } : null
}

/**
 * A stub in the namespace of the GitHub account, unless a user here has that name: then only they may publish in it.
 */
async function makeStub(
  context: CommunityContext,
  trx: WriteTransaction,
  skill: InRepository,
): Promise<UsedSkill | null> {
  const username = toNamespace(skill)
  if (!isUsername(username) || reservedOwners.has(username) || !isSkillName(skill.name)) return null
  const owner = await ensureNamespace(trx, username, context.clock.now())
  if (owner.claimed) return null
  try {
    const { id, owner_id, repository } = await putStub(
      context,
      trx,
      { owner, name: skill.name, description: '', repository: skill.repoUrl },
      guest,
    )
    return parseRepoUrl(repository)?.repoUrl === skill.repoUrl ? { id, ownerId: owner_id } : null
  } catch (error) {
    // The name was deleted here or is under a takedown, and stays so.
    if (error instanceof RegistryError && ['name_taken', 'taken_down'].includes(error.code)) return null
    throw error
  }
}

function toNamespace({ owner }: InRepository): string {
  return toSlug(owner)
}

function refuseRepoUrl(): RegistryError {
  const message = 'must be the URL of a GitHub repository, such as https://github.com/owner/repo'
  return new RegistryError('invalid_request', `repoUrl ${message}.`, { errors: [{ path: 'repoUrl', message }] })
}
