import {
  RegistryError,
  type PublishSkillInput,
  type SkillDetails,
  type SkillVersion,
  type Reply,
  type Warning,
} from '@skillstead/protocol'
import { attributeVersion } from '../agents/attribute-version.ts'
import { findCallingAgent } from '../agents/find-agent.ts'
import { requireAccount, type Caller, type UserCaller } from '../caller.ts'
import type { CallOptions, Context } from '../context.ts'
import type { SkillDocumentRow, SkillRow, VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { recordAudit } from '../audit.ts'
import { readFiles, type FileRow } from './files.ts'
import { findMovedSkill } from './find-skill.ts'
import { cleanKeywords, readPackageFields } from './package-fields.ts'
import { publishVersion } from './publish-version.ts'
import { refreshSkill } from './refresh-skill.ts'
import { applySettings, type SkillSettings } from './settings.ts'
import { readDocument, showDetails } from './show-details.ts'
import { packContent, readPackage, type SkillPackage } from './skill-package.ts'
import { toVersion } from './version-form.ts'
import { canWrite, isOwner, requireOwner } from './visibility.ts'

export interface PublishAnswer {
  skill: SkillDetails
  version: SkillVersion
  created: boolean
  warnings: Warning[]
}

/**
 * PUT /skills: a new skill, a new version, or new metadata. A version is also the deed of the agent whose token comes
 * along. Throws `invalid_skill`, `version_exists`, `name_taken`, `forbidden` for another user's name or a wrong token.
 */
export async function publishSkill(
  context: Context,
  input: PublishSkillInput,
  caller: Caller,
  options: CallOptions = {},
): Promise<Reply<PublishAnswer>> {
  const user = requireAccount(caller)
  await findCallingAgent(context.database.read, options.agentToken)
  const content = await readPackage(input)
  const body = content
    ? await publishContent(context, input, content, { user, options })
    : await updateMetadata(context, input, user)
  return { status: body.created ? 201 : 200, body }
}

/** What a transaction leaves behind, from which the answer is made after it. */
interface Stored {
  readonly skill: SkillRow
  /** Read before a dry run ends, after which it is no more. */
  readonly document: SkillDocumentRow
  readonly version: VersionRow
  readonly files: readonly FileRow[]
  readonly created: boolean
  readonly warnings: readonly Warning[]
}

/** Thrown out of a transaction to undo it, with what it would have answered. */
class DryRun extends Error {
  readonly stored: Stored

  constructor(stored: Stored) {
    super('Nothing is stored in a dry run.')
    this.stored = stored
  }
}

async function publishContent(
  context: Context,
  input: PublishSkillInput,
  content: SkillPackage,
  { user, options }: { user: UserCaller; options: CallOptions },
): Promise<PublishAnswer> {
  const fields = readPackageFields(content.skillMd, input)
  const owner = await getNamespace(context, input, fields.name, user)
  const packed = await packContent(content)
  const publication = {
    owner,
    publisher: { id: user.userId, username: user.username },
    fields,
    content: packed,
    settings: toSettings(input),
    changelog: input.changelog ?? '',
  }
  const stored = await endDryRun(
    context.database.writer.write(async (trx) => {
      if (owner.id !== user.userId) await requireWriter(trx, `${owner.username}/${fields.name}`, input, user)
      const { skill, version, created } = await publishVersion(context, trx, publication, user)
      if (created) await attributeVersion(trx, version, { user, options })
      const [document, files] = [await readDocument(trx, skill.id), await readFiles(trx, version.id)]
      const published = { skill, document, version, files, created, warnings: fields.warnings }
      if (input.dryRun) throw new DryRun(published)
      return published
    }),
  )
  return toAnswer(context, stored, user)
}

async function updateMetadata(context: Context, input: PublishSkillInput, user: UserCaller): Promise<PublishAnswer> {
  const skill = await getOwnSkill(context, input, user)
  const stored = await endDryRun(
    context.database.writer.write(async (trx) => {
      const before = await requireWriter(trx, skill.full_name, input, user)
      const now = context.clock.now()
      const settings = toSettings(input)
      const changed = await applySettings(trx, before, settings)
      const after = changed
        ? await refreshSkill(trx, {
            dialect: context.database.dialect,
            skillId: skill.id,
            before,
            deed: { type: 'skill' },
            at: now,
          })
        : before
      if (changed)
        await recordAudit(trx, {
          caller: user,
          action: 'skill.update',
          subject: skill.full_name,
          at: now,
          data: { ...settings },
        })
      const version = await trx
        .selectFrom('versions')
        .selectAll()
        .where('skill_id', '=', skill.id)
        .orderBy('yanked')
        .orderBy('sort_key', 'desc')
        .executeTakeFirst()
      if (!version) throw new RegistryError('invalid_skill', `${skill.full_name} has no version yet; send its skillMd.`)
      const [document, files] = [await readDocument(trx, skill.id), await readFiles(trx, version.id)]
      const updated = { skill: after, document, version, files, created: false, warnings: [] }
      if (input.dryRun) throw new DryRun(updated)
      return updated
    }),
  )
  return toAnswer(context, stored, user)
}

/** Asked again within the transaction: a role, the skill or its name may be gone since it was asked first. */
async function requireWriter(
  trx: WriteTransaction,
  fullName: string,
  input: PublishSkillInput,
  user: UserCaller,
): Promise<SkillRow> {
  const skill = await trx.selectFrom('skills').selectAll().where('full_name', '=', fullName).executeTakeFirst()
  if (!skill || skill.state === 'withdrawn')
    throw new RegistryError('not_found', `There is no skill '${fullName}' any more.`)
  const isVisibilityChange = input.visibility !== undefined && input.visibility !== skill.visibility
  if (isVisibilityChange || !(await canWrite(trx, skill, user))) requireOwner(skill, user)
  return skill
}

async function endDryRun(stored: Promise<Stored>): Promise<Stored> {
  try {
    return await stored
  } catch (error) {
    if (error instanceof DryRun) return error.stored
    throw error
  }
}

/** Whose name a publish goes under: the caller's own, or that of the owner who lets the caller write. */
async function getNamespace(context: Context, input: PublishSkillInput, name: string, user: UserCaller) {
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

async function getOwnSkill(context: Context, input: PublishSkillInput, user: UserCaller): Promise<SkillRow> {
  if (input.name === undefined)
    throw missing('skillMd', 'is needed for a new version; to change metadata alone, give `name`.')
  if (input.version !== undefined || input.changelog !== undefined) {
    throw missing('skillMd', 'is needed where a version or a changelog is given.')
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

function toSettings(input: PublishSkillInput): SkillSettings {
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

async function toAnswer(context: Context, stored: Stored, caller: Caller): Promise<PublishAnswer> {
  const { skill, document, version, files, created, warnings } = stored
  const details = await showDetails(context, skill, caller, document)
  return { skill: details, version: toVersion(version, files), created, warnings: [...warnings] }
}

function missing(path: string, message: string): RegistryError {
  return new RegistryError('invalid_request', `${path} ${message}`, { errors: [{ path, message }] })
}
