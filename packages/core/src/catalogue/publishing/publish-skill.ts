import { RegistryError, type PublishSkillInput, type Reply, type Warning } from '@skillstead/protocol'
import { warnOfFiles } from '@skillstead/skill-format/archives'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../../storage/storage-context.ts'
import { findCallingAgent } from '../../accounts/find-agent.ts'
import { findOrganisation, findOwnOrganisation } from '../../accounts/organisations.ts'
import { requireAccount, type Caller, type UserCaller } from '../../kernel/caller.ts'
import type { CallOptions } from '../../kernel/call-options.ts'
import { invalidField, invalidFields } from '../../kernel/field-errors.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import type { SkillRow, Tables, UserRow } from '../../storage/tables.ts'
import { undo, type WriteTransaction } from '../../storage/writer.ts'
import { recordAudit } from '../../log/audit.ts'
import { hasRow } from '../../storage/table-rows.ts'
import { warnOfCopies } from '../copies/find-copies.ts'
import { warnOfRequired } from '../requires/required-skills.ts'
import { quarantineVersion } from './quarantine-version.ts'
import { toPackageTexts } from '../inspecting/metadata-scan.ts'
import { findMovedSkill, selectByFullName } from '../skills/find-skill.ts'
import { inspectPackage } from '../inspecting/inspect-packages.ts'
import { offeredVersion } from '../versions/recalls.ts'
import { cleanKeywords, type PackageFields, readPackageFields } from '../versions/package-fields.ts'
import type { Publication, QuarantineReason } from './publication.ts'
import { publishVersion, requireSettings } from './publish-version.ts'
import { readPublished, toPublishAnswer, type PublishAnswer } from './publish-answer.ts'
import { refreshSkill } from '../skills/refresh-skill.ts'
import { applySettings } from '../skills/skill-rows.ts'
import type { SkillSettings } from '../context/ports.ts'
import { packContent, readSubmittedPackage, type SkillPackage } from '../versions/skill-package.ts'
import { toMeantName } from '../versions/stored-requires.ts'
import { requireWriter } from '../skills/change-skill.ts'
import { hasRight, requireRight, requireWithinLimit } from '../../visibility/rights.ts'

/**
 * PUT /skills: stores a new skill, a new version, or new metadata. With an agent's token in the request, a version also
 * counts as an action of the agent. Responds 202 if the scan policy quarantines the version, or if the version waits
 * for reviewers. Throws `invalid_skill`, `version_exists`, `name_taken`, and `forbidden` for another user's name or a
 * wrong token.
 */
export async function publishSkill(
  context: CatalogueContext,
  input: PublishSkillInput,
  caller: Caller,
  options: CallOptions = {},
): Promise<Reply<PublishAnswer>> {
  const user = requireAccount(caller)
  const agent = await findCallingAgent(context.database.read, options.agentToken)
  const content = await readSubmittedPackage(input)
  if (!content) return { status: 200, body: await updateMetadata(context, input, user) }
  const endAnnouncement = context.database.writer.announce()
  const publication = await toSkillPublication(context, input, content, user).finally(endAnnouncement)
  if (!input.dryRun) await consultSecondOpinion(context, publication, user)
  const { stored, published } = await context.database.writer.write(async function publish(trx) {
    await requirePublisher(trx, publication, user)
    const decided = await publishVersion(context, trx, publication, user)
    const { version, created, quarantinedFor } = decided
    if (created && !quarantinedFor) await context.agents.attributeVersion(trx, version, { user, options })
    const result = { stored: await readPublished(trx, decided), published: decided }
    if (quarantinedFor || input.dryRun) undo(trx)
    return result
  })
  const answer = await toPublishAnswer(context, stored, user, content)
  if (!published.quarantinedFor) return { status: answer.created ? 201 : 200, body: answer }
  if (input.dryRun) {
    return {
      status: 200,
      body: { ...answer, created: false, warnings: [...answer.warnings, quarantineWarnings[published.quarantinedFor]] },
    }
  }
  const quarantined = await context.database.writer.write((trx) =>
    quarantineVersion(context, trx, { publication, unpublished: published, agentId: agent?.id }, user),
  )
  return { status: 202, body: { ...answer, created: false, quarantined } }
}

/**
 * Packs and scans a package, and compares the package with other skills. Throws `forbidden` for another user's name.
 */
async function toSkillPublication(
  context: CatalogueContext,
  input: PublishSkillInput,
  content: SkillPackage,
  user: UserCaller,
) {
  const fields = readPackageFields(content.skillMd, input)
  const target = await getTarget(context, input, fields.name, user)
  const { owner } = target
  refuseItself(fields, owner.username)
  const packed = await packContent(content)
  const inspection = await inspectPackage(context, {
    content: packed,
    texts: toPackageTexts(fields, input.changelog),
  })
  const publishing = { ownerId: owner.id, fullName: `${owner.username}/${fields.name}`, sketch: inspection.sketch }
  const copyWarnings = await warnOfCopies(context, { ...publishing, skillMd: content.skillMd }, user)
  const requiredWarnings = await warnOfRequired(context, fields.requires, owner.username, user)
  return {
    owner: { id: owner.id, username: owner.username },
    publisher: toPublisher(user),
    identity: user.identity,
    fields: {
      ...fields,
      warnings: [...warnOfFiles(content.files), ...fields.warnings, ...copyWarnings, ...requiredWarnings],
    },
    content: packed,
    inspection,
    settings: toSkillSettings(input, target),
    changelog: input.changelog ?? '',
  }
}

function refuseItself({ name, requires }: PackageFields, owner: string): void {
  const itself = requires.skills.find((one) => !one.optional && toMeantName(one.name, owner) === `${owner}/${name}`)
  if (!itself) return
  const message = `A skill cannot require itself: remove '${itself.name}'.`
  throw invalidFields('invalid_skill', [{ path: 'requires', message }])
}

function toPublisher({ userId, username }: UserCaller): Publication['publisher'] {
  return { id: userId, username }
}

/** Asks for a second opinion, within its time limit. The content of private and internal skills is never sent. */
async function consultSecondOpinion(
  context: CatalogueContext,
  { owner, fields, content, inspection, settings }: Awaited<ReturnType<typeof toSkillPublication>>,
  { userId }: UserCaller,
): Promise<void> {
  if (!context.secondOpinion) return
  const fullName = `${owner.username}/${fields.name}`
  const skill = await context.database.read
    .selectFrom('skills')
    .select('visibility')
    .where('full_name', '=', fullName)
    .executeTakeFirst()
  if ((settings.visibility ?? skill?.visibility ?? 'public') !== 'public') return
  // The name belongs to a transferred skill, which may be private, and the publish will be refused.
  if (!skill && (await hasRow(context.database.read, 'aliases', { full_name: fullName }))) return
  const { digest, sources } = content
  await context.secondOpinion.consult(context, { userId, fullName, digest, files: sources, security: inspection.scan })
}

const quarantineWarnings: Readonly<Record<QuarantineReason, Warning>> = {
  policy: { code: 'quarantined', message: 'This version would be quarantined until an administrator releases it.' },
  approval: { code: 'approval', message: 'This version would wait until its reviewers approve it.' },
}

async function updateMetadata(
  context: CatalogueContext,
  input: PublishSkillInput,
  user: UserCaller,
): Promise<PublishAnswer> {
  const skill = await getUpdatedSkill(context, input, user)
  const stored = await context.database.writer.write(async (trx) => {
    const settings = toSkillSettings(input, { owner: await getOwner(trx, skill), skill })
    const before = await requireWriter(trx, skill.full_name, settings.visibility, user)
    const changed = await applySettings(trx, before, settings)
    const after = changed ? await refreshSettings(context, trx, { before, settings }, user) : before
    const version = await trx
      .selectFrom('versions')
      .selectAll()
      .where('skill_id', '=', skill.id)
      .orderBy(offeredVersion, 'desc')
      .orderBy('sort_key', 'desc')
      .executeTakeFirst()
    if (!version) throw new RegistryError('invalid_skill', `${skill.full_name} has no version yet. Send skillMd.`)
    const warnings = changed ? await requireSettings(context, trx, { before, after }, toPublisher(user)) : []
    const updated = await readPublished(trx, { skill: after, version, created: false, warnings })
    if (input.dryRun) undo(trx)
    return updated
  })
  return toPublishAnswer(context, stored, user)
}

async function refreshSettings(
  context: CatalogueContext,
  trx: WriteTransaction,
  { before, settings }: { before: SkillRow; settings: SkillSettings },
  user: UserCaller,
): Promise<SkillRow> {
  const at = context.clock.now()
  const upstreamWrite = { type: 'settings', before, userId: user.userId, settings } as const
  const change = { skillId: before.id, before, at, upstreamWrite }
  const after = await refreshSkill(context, trx, { ...change, cause: { type: 'skill' } })
  const data = { ...settings }
  await recordAudit(trx, { caller: user, action: 'skill.update', subject: before.full_name, at, data })
  return after
}

/** The owner of a skill that is published, and the skill, if it exists. */
interface Target {
  readonly owner: Pick<UserRow, 'id' | 'username' | 'kind'>
  readonly skill?: SkillRow | undefined
}

/**
 * Finds the owner in whose namespace a request publishes: the caller, an organisation in which the caller may publish,
 * or an owner who gave the caller write access to the skill.
 */
async function getTarget(
  context: StorageContext,
  input: PublishSkillInput,
  name: string,
  user: UserCaller,
): Promise<Target> {
  const named = input.name?.includes('/') ? input.name.slice(0, input.name.indexOf('/')) : undefined
  if (named !== undefined && input.owner !== undefined && named !== input.owner)
    throw invalidField('owner', `is ${input.owner}, but the name says ${named}`)
  const owner = input.owner ?? named ?? user.username
  const { read } = context.database
  // The caller may be a CI job, whose key may belong to an organisation.
  if (owner === user.username && user.identity) return { owner: await getOwner(read, { owner_id: user.userId }) }
  if (owner === user.username) return { owner: { id: user.userId, username: owner, kind: 'user' } }
  const skill = await findMovedSkill(context, `${owner}/${name}`, user)
  if (skill && (await hasRight(read, skill, user, 'publish'))) return { owner: await getOwner(read, skill), skill }
  const organisation = skill ? undefined : await findOwnOrganisation(read, owner, user, 'publish')
  if (organisation) return { owner: organisation }
  const advice = (await findOrganisation(read, owner))
    ? `ask an owner or admin of ${owner} for the role publisher`
    : `ask ${owner} for the write role`
  throw new RegistryError(
    'forbidden',
    `You may not publish ${owner}/${name}. Publish under ${user.username}, or ${advice}.`,
  )
}

function getOwner(db: Kysely<Tables>, { owner_id }: Pick<SkillRow, 'owner_id'>) {
  return db.selectFrom('users').select(['id', 'username', 'kind']).where('id', '=', owner_id).executeTakeFirstOrThrow()
}

/** Repeats the check of {@link getTarget} in the transaction, since a role, the skill or its name may have changed. */
export async function requirePublisher(
  trx: WriteTransaction,
  { owner, fields, settings }: Pick<Publication, 'owner' | 'fields' | 'settings'>,
  user: UserCaller,
): Promise<void> {
  const fullName = `${owner.username}/${fields.name}`
  requireWithinLimit(user, fullName)
  if (owner.id === user.userId) return
  const isNew = (await selectByFullName(trx, { fullName })).length === 0
  if (isNew && (await findOwnOrganisation(trx, owner.username, user, 'publish'))) return
  if (isNew) throw new RegistryError('forbidden', `${user.username} may not publish new skills of ${owner.username}.`)
  await requireWriter(trx, fullName, settings.visibility, user)
}

/** The visibility to store for a request; undefined if the visibility does not change. */
function toVisibility(
  { visibility, organisation }: PublishSkillInput,
  { owner, skill }: Target,
): SkillRow['visibility'] | undefined {
  if (organisation === undefined)
    return visibility === 'internal' && skill?.visibility === 'organisation' ? undefined : visibility
  if (organisation === '') return visibility ?? (skill?.visibility === 'organisation' ? 'internal' : undefined)
  if (owner.kind !== 'organisation' || owner.username !== organisation)
    throw invalidField('organisation', `must be the organisation that owns the skill; its owner is ${owner.username}`)
  if (visibility !== undefined && visibility !== 'internal')
    throw invalidField('organisation', `can be set only with the visibility internal, not ${visibility}`)
  return 'organisation'
}

async function getUpdatedSkill(context: StorageContext, input: PublishSkillInput, user: UserCaller): Promise<SkillRow> {
  if (input.name === undefined)
    throw invalidField('skillMd', 'is needed for a new version; to change metadata alone, give `name`.')
  if (input.version !== undefined || input.changelog !== undefined) {
    throw invalidField('skillMd', 'is required with a version or a changelog.')
  }
  const fullName = input.name.includes('/') ? input.name : `${input.owner ?? user.username}/${input.name}`
  const skill = await findMovedSkill(context, fullName, user)
  if (!skill)
    throw new RegistryError(
      'not_found',
      `There is no skill '${fullName}' that you may see; send its skillMd to publish it.`,
    )
  await requireRight(context.database.read, skill, user, 'publish')
  return skill
}

function toSkillSettings(input: PublishSkillInput, target: Target): SkillSettings {
  const { displayName, description, category, license, keywords, deprecated, deprecationMessage, repository } = input
  return {
    displayName,
    description,
    category,
    license,
    keywords: keywords && cleanKeywords(keywords),
    visibility: toVisibility(input, target),
    deprecated,
    deprecationMessage,
    repository,
  }
}
