import { isSkillName, isUsername, RegistryError, reservedOwners } from '@skillstead/protocol'
import { toSlug } from '@skillstead/skill-format'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import type { AccountsContext } from '../accounts/accounts-context.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import { findCallingAgent, isOwnAgent } from '../accounts/find-agent.ts'
import { ensureNamespace } from '../accounts/users.ts'
import { getMovedSkill } from '../catalogue/skills/find-skill.ts'
import { putStub } from '../catalogue/skills/skill-rows.ts'
import { toMirrored, type UsedSkill } from '../catalogue/context/use-counts.ts'
import { isOwner } from '../visibility/rights.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import { type Caller, guest, seesPublicOnly } from '../kernel/caller.ts'
import { invalidField } from '../kernel/field-errors.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { increment } from '../storage/table-rows.ts'
import type { AgentRow, ExternalSkillRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { CommunityContext } from './community-context.ts'
import { insertExternal, enqueueScan } from './external-skills.ts'
import { parseRepoUrl, parseSource } from './external-source.ts'
import { publicCondition } from '../visibility/conditions.ts'

const accepted = { accepted: true } as const

/**
 * POST /track: records an install and responds after the commit. Stores nothing that identifies the caller. Installs by
 * owners and their agents of their own skills are not counted. Throws `forbidden` for a wrong token.
 */
export const track: Operation<'track', CommunityContext> = async (context, input, caller, options = {}) => {
  checkRepoUrl(input)
  const agent = await findCallingAgent(context.database.read, options.agentToken)
  const skill = await findInstalled(context, input, caller, options)
  if (skill !== null && !(await isByOwner(context, skill.id, caller, agent))) {
    await context.telemetry.record(skill, toPlatform(input.agents) ?? options.client)
  }
  return accepted
}

/**
 * The platform of the first reported agent: `claude-code` of `claude-code:laptop`. The part after the colon may
 * identify a person and is never stored. Undefined if no agent is given.
 */
function toPlatform([agent]: readonly string[]): string | undefined {
  return agent?.split(':', 1)[0]!.trim() || undefined
}

async function findInstalled(
  context: CommunityContext,
  { skillName, source, repoUrl }: Input<'track'>,
  caller: Caller,
  options: CallOptions,
): Promise<UsedSkill | null> {
  if (source !== 'registry') return recordExternalInstall(context, { skillName, source, repoUrl }, options)
  const find = async () => {
    const skill = await getMovedSkill(context, skillName, caller)
    return { id: skill.id, ownerId: skill.owner_id, mirrored: toMirrored(skill) }
  }
  return seesPublicOnly(caller) ? context.publicNames.get(skillName, find) : find()
}

async function isByOwner({ database }: StorageContext, skillId: string, caller: Caller, agent: AgentRow | undefined) {
  if (caller.kind === 'guest' && !agent) return false
  const skill = await database.read.selectFrom('skills').select('owner_id').where('id', '=', skillId).executeTakeFirst()
  return skill !== undefined && (isOwner(skill, caller) || (agent !== undefined && isOwnAgent(agent, skill)))
}

/** Installs from GitHub must name the repository; installs from other sources must not. */
function checkRepoUrl({ source, repoUrl }: Input<'track'>): void {
  if ((source === 'github') === (repoUrl !== undefined)) return
  throw invalidField(
    'repoUrl',
    source === 'github' ? 'is required if source is github' : 'is only allowed if source is github',
  )
}

/** A skill in a GitHub repository, with the name that the client reported. */
interface InRepository {
  readonly repoUrl: string
  readonly owner: string
  readonly name: string
}

/**
 * Counts an install of a skill in the index of external skills. An unknown GitHub skill is added to the index and gets
 * a stub on this node. Each address may add a limited number of skills per hour; beyond the limit, installs of unknown
 * skills are accepted but not stored. Returns the skill or stub of this node, or null. Throws `invalid_request` that
 * names `repoUrl`.
 */
async function recordExternalInstall(
  context: CommunityContext,
  { skillName, source, repoUrl }: Pick<Input<'track'>, 'skillName' | 'source' | 'repoUrl'>,
  options: CallOptions,
): Promise<UsedSkill | null> {
  const name = toSlug(skillName.split('/').at(-1)!)
  if (source === 'external') return recordByName(context, name)
  const repository = parseRepoUrl(repoUrl ?? '')
  if (!repository)
    throw invalidField('repoUrl', 'must be the URL of a GitHub repository, such as https://github.com/owner/repo')
  // The reported name has no character that a skill name may contain.
  if (name === '') return null
  return recordInRepository(context, { ...repository, name }, options)
}

/** Counts an install that names no repository: the name must be unique in the index of external skills. */
async function recordByName(context: StorageContext, name: string): Promise<UsedSkill | null> {
  const named = context.database.read.selectFrom('external_skills').selectAll().where('name', '=', name)
  const rows = await named.limit(2).execute()
  const [row] = rows
  if (!row || rows.length > 1) return null
  await context.database.writer.write((trx) => increment(trx, 'external_skills', row.id, { installs: 1 }))
  const repository = parseRepoUrl(row.repo_url)
  return repository ? findLocalSkill(context.database.read, { ...repository, name }) : null
}

async function recordInRepository(context: CommunityContext, skill: InRepository, options: CallOptions) {
  const known = await findIndexedSkill(context.database.read, skill)
  if (known) {
    await context.database.writer.write((trx) => increment(trx, 'external_skills', known.id, { installs: 1 }))
    return findLocalSkill(context.database.read, skill)
  }
  const mayIndex = await context.addressLimits.take('indexing', options.address)
  if (!mayIndex) return findLocalSkill(context.database.read, skill)
  return context.database.writer.write(async (trx) => {
    // A concurrent first install may have added the skill to the index.
    const row = await findIndexedSkill(trx, skill)
    if (row) await increment(trx, 'external_skills', row.id, { installs: 1 })
    else await indexSkill(context, trx, skill)
    return (await findLocalSkill(trx, skill)) ?? createStub(context, trx, skill)
  })
}

async function findIndexedSkill(db: Kysely<Tables>, skill: InRepository): Promise<ExternalSkillRow | undefined> {
  return db
    .selectFrom('external_skills')
    .selectAll()
    .where('repo_url', '=', skill.repoUrl)
    .where((eb) => eb.or([eb('name', '=', skill.name), eb('url', '=', toExternalUrl(skill))]))
    .orderBy('registry')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

async function indexSkill(context: AccountsContext, trx: WriteTransaction, skill: InRepository): Promise<void> {
  const source = { ...parseSource(toExternalUrl(skill)), author: skill.owner }
  const { id } = await insertExternal(trx, source, { installs: 1 }, context.clock.now())
  await enqueueScan(context, trx, id)
}

function toExternalUrl({ repoUrl, name }: InRepository): string {
  return `${repoUrl}#@${name}`
}

/**
 * The public skill of this registry that has the given name in the namespace of the repository's owner, if the skill's
 * field `repository` names the same repository; else null.
 */
async function findLocalSkill(db: Kysely<Tables>, skill: InRepository): Promise<UsedSkill | null> {
  const row = await db
    .selectFrom('skills')
    .select(['id', 'owner_id', 'repository'])
    .where('full_name', '=', `${toNamespace(skill)}/${skill.name}`)
    .where(publicCondition)
    .executeTakeFirst()
  const isFrom = row && parseRepoUrl(row.repository)?.repoUrl === skill.repoUrl
  return isFrom ? { id: row.id, ownerId: row.owner_id } : null
}

/**
 * Creates a stub for a skill of a GitHub account, unless a user of this node has the account's name: only this user may
 * publish in that namespace.
 */
async function createStub(context: CatalogueContext, trx: WriteTransaction, skill: InRepository) {
  const username = toNamespace(skill)
  if (!isUsername(username) || reservedOwners.has(username) || !isSkillName(skill.name)) return null
  const owner = await ensureNamespace(trx, username, context.clock.now())
  if (owner.claimed) return null
  try {
    const stub = { owner, name: skill.name, description: '', repository: skill.repoUrl }
    const { id, owner_id, repository } = await putStub(context, trx, stub, guest)
    return parseRepoUrl(repository)?.repoUrl === skill.repoUrl ? { id, ownerId: owner_id } : null
  } catch (error) {
    // A skill that was deleted or taken down gets no stub.
    if (error instanceof RegistryError && ['name_taken', 'taken_down'].includes(error.code)) return null
    throw error
  }
}

function toNamespace({ owner }: InRepository): string {
  return toSlug(owner)
}
