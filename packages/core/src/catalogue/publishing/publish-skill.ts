import { RegistryError, type PublishSkillInput, type Reply, type Warning } from '@skillstead/protocol'
import { warnOfFiles } from '@skillstead/skill-format/archives'
import type { StorageContext } from '../../storage/storage-context.ts'
import { findCallingAgent } from '../../accounts/find-agent.ts'
import { requireAccount, type Caller, type UserCaller } from '../../kernel/caller.ts'
import type { CallOptions } from '../../kernel/call-options.ts'
import { invalidField } from '../../kernel/field-errors.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import type { SkillRow } from '../../storage/tables.ts'
import { undo, type WriteTransaction } from '../../storage/writer.ts'
import { recordAudit } from '../../log/audit.ts'
import { hasRow } from '../../storage/table-rows.ts'
import { warnOfCopies } from '../copies/find-copies.ts'
import { quarantineVersion } from './quarantine-version.ts'
import { requireMetadata, toPackageTexts } from '../inspecting/metadata-scan.ts'
import { findMovedSkill } from '../skills/find-skill.ts'
import { inspectPackage } from '../inspecting/inspect-packages.ts'
import { cleanKeywords, readPackageFields } from '../versions/package-fields.ts'
import { publishVersion } from './publish-version.ts'
import { readPublished, toPublishAnswer, type PublishAnswer } from './publish-answer.ts'
import { refreshSkill } from '../skills/refresh-skill.ts'
import { applySettings } from '../skills/skill-rows.ts'
import type { SkillSettings } from '../context/ports.ts'
import { packContent, readSubmittedPackage, type SkillPackage } from '../versions/skill-package.ts'
import { requireWriter } from '../skills/change-skill.ts'
import { canWrite, isOwner, requireOwner } from '../../visibility/rights.ts'

/**
 * PUT /skills: a new skill, a new version, or new metadata. With an agent's token in the request, a version also counts
 * as an action of the agent. Responds 202 if the scan policy quarantines the version. Throws `invalid_skill`,
 * `version_exists`, `name_taken`, and `forbidden` for another user's name or a wrong token.
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
  const publication = await toSkillPublication(context, input, content, user)
  if (!input.dryRun) await consultSecondOpinion(context, publication, user)
  const { owner, fields } = publication
  const { stored, published } = await context.database.writer.write(async function publish(trx) {
    if (owner.id !== user.userId) await requireWriter(trx, `${owner.username}/${fields.name}`, input.visibility, user)
    const decided = await publishVersion(context, trx, publication, user)
    const { version, created, isQuarantined } = decided
    if (created && !isQuarantined) await context.agents.attributeVersion(trx, version, { user, options })
    const result = { stored: await readPublished(trx, decided), published: decided }
    if (isQuarantined || input.dryRun) undo(trx)
    return result
  })
  const answer = await toPublishAnswer(context, stored, user, content)
  if (!published.isQuarantined) return { status: answer.created ? 201 : 200, body: answer }
  if (input.dryRun) {
    return { status: 200, body: { ...answer, created: false, warnings: [...answer.warnings, quarantineWarning] } }
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
  const owner = await getPublishNamespace(context, input, fields.name, user)
  const packed = await packContent(content)
  const inspection = await inspectPackage(context, {
    content: packed,
    texts: toPackageTexts(fields, input.changelog),
  })
  const publishing = { ownerId: owner.id, fullName: `${owner.username}/${fields.name}`, sketch: inspection.sketch }
  const copyWarnings = await warnOfCopies(context, { ...publishing, skillMd: content.skillMd }, user)
  return {
    owner,
    publisher: { id: user.userId, username: user.username },
    fields: {
      ...fields,
      warnings: [...warnOfFiles(content.files), ...fields.warnings, ...copyWarnings],
    },
    content: packed,
    inspection,
    settings: toSkillSettings(input),
    changelog: input.changelog ?? '',
  }
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

const quarantineWarning: Warning = {
  code: 'quarantined',
  message: 'This version would be quarantined until an administrator releases it.',
}

async function updateMetadata(
  context: CatalogueContext,
  input: PublishSkillInput,
  user: UserCaller,
): Promise<PublishAnswer> {
  const skill = await getUpdatedSkill(context, input, user)
  const stored = await context.database.writer.write(async (trx) => {
    const before = await requireWriter(trx, skill.full_name, input.visibility, user)
    const settings = toSkillSettings(input)
    const changed = await applySettings(trx, before, settings)
    const after = changed ? await refreshSettings(context, trx, { before, settings }, user) : before
    const version = await trx
      .selectFrom('versions')
      .selectAll()
      .where('skill_id', '=', skill.id)
      .orderBy('yanked')
      .orderBy('sort_key', 'desc')
      .executeTakeFirst()
    if (!version) throw new RegistryError('invalid_skill', `${skill.full_name} has no version yet. Send skillMd.`)
    const warnings = changed ? await requireMetadata(context, trx, { before, after }) : []
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

/** The caller's namespace, or the namespace of an owner who gave the caller write access. */
async function getPublishNamespace(context: StorageContext, input: PublishSkillInput, name: string, user: UserCaller) {
  const given = input.name
  const own = { id: user.userId, username: user.username }
  const owner = given?.includes('/') ? given.slice(0, given.indexOf('/')) : user.username
  if (owner === user.username) return own
  const skill = await findMovedSkill(context, `${owner}/${name}`, user)
  if (!skill || !(await canWrite(context.database.read, skill, user))) {
    throw new RegistryError(
      'forbidden',
      `You may not publish ${owner}/${name}. Publish under ${user.username}, or ask its owner for the write role.`,
    )
  }
  if (input.visibility !== undefined && input.visibility !== skill.visibility) requireOwner(skill, user)
  return { id: skill.owner_id, username: skill.owner }
}

async function getUpdatedSkill(context: StorageContext, input: PublishSkillInput, user: UserCaller): Promise<SkillRow> {
  if (input.name === undefined)
    throw invalidField('skillMd', 'is needed for a new version; to change metadata alone, give `name`.')
  if (input.version !== undefined || input.changelog !== undefined) {
    throw invalidField('skillMd', 'is required with a version or a changelog.')
  }
  const fullName = input.name.includes('/') ? input.name : `${user.username}/${input.name}`
  const skill = await findMovedSkill(context, fullName, user)
  if (!skill)
    throw new RegistryError(
      'not_found',
      `There is no skill '${fullName}' that you may see; send its skillMd to publish it.`,
    )
  if (
    !(await canWrite(context.database.read, skill, user)) ||
    (input.visibility !== undefined && !isOwner(skill, user))
  ) {
    throw new RegistryError('forbidden', `Only the owner of ${fullName} may change this.`)
  }
  return skill
}

function toSkillSettings(input: PublishSkillInput): SkillSettings {
  const {
    displayName,
    description,
    category,
    license,
    keywords,
    visibility,
    deprecated,
    deprecationMessage,
    repository,
  } = input
  return {
    displayName,
    description,
    category,
    license,
    keywords: keywords && cleanKeywords(keywords),
    visibility,
    deprecated,
    deprecationMessage,
    repository,
  }
}
