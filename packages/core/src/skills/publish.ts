import {
  RegistryError,
  type PublishSkillInput,
  type SkillDetails,
  type SkillVersion,
  type Reply,
  type Warning,
} from '@skillstead/protocol'
import { requireUser, type Caller, type UserCaller } from '../caller.ts'
import type { Context } from '../context.ts'
import type { SkillRow, VersionRow } from '../storage/tables.ts'
import { recordAudit } from '../audit.ts'
import { readFiles } from './files.ts'
import { findMovedSkill } from './find-skill.ts'
import { cleanKeywords, readPackageFields } from './package-fields.ts'
import { publishVersion } from './publish-version.ts'
import { refreshSkill } from './refresh-skill.ts'
import { applySettings, type SkillSettings } from './settings.ts'
import { toDetails } from './skill-document.ts'
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
 * PUT /skills: a new skill, a new version, or new metadata. Throws `invalid_skill`, `version_exists`, `name_taken`,
 * `forbidden` for another user's name.
 */
export async function publishSkill(
  context: Context,
  input: PublishSkillInput,
  caller: Caller,
): Promise<Reply<PublishAnswer>> {
  const user = requireUser(caller)
  const content = await readPackage(input)
  const body = content
    ? await publishContent(context, input, content, user)
    : await updateMetadata(context, input, user)
  return { status: body.created ? 201 : 200, body }
}

/** Thrown out of a transaction to undo it, with what it would have answered. */
class DryRun extends Error {
  readonly answer: PublishAnswer

  constructor(answer: PublishAnswer) {
    super('Nothing is stored in a dry run.')
    this.answer = answer
  }
}

async function publishContent(
  context: Context,
  input: PublishSkillInput,
  content: SkillPackage,
  user: UserCaller,
): Promise<PublishAnswer> {
  const fields = readPackageFields(content.skillMd, input)
  const owner = await getNamespace(context, input, fields.name, user)
  const packed = await packContent(content)
  const publication = {
    owner,
    publisher: { id: user.userId, username: user.username },
    fields,
    content: packed,
    settings: { ...toSettings(input), category: fields.category },
    changelog: input.changelog ?? '',
  }
  return endDryRun(
    context.database.writer.write(async (trx) => {
      const { skill, version, created } = await publishVersion(context, trx, publication, user)
      const answer = toAnswer(skill, version, await readFiles(trx, version.id), created, fields.warnings)
      if (input.dryRun) throw new DryRun(answer)
      return answer
    }),
  )
}

async function updateMetadata(context: Context, input: PublishSkillInput, user: UserCaller): Promise<PublishAnswer> {
  const skill = await getOwnSkill(context, input, user)
  return endDryRun(
    context.database.writer.write(async (trx) => {
      const before = await trx.selectFrom('skills').selectAll().where('id', '=', skill.id).executeTakeFirstOrThrow()
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
      const answer = toAnswer(after, version, await readFiles(trx, version.id), false, [])
      if (input.dryRun) throw new DryRun(answer)
      return answer
    }),
  )
}

async function endDryRun(answer: Promise<PublishAnswer>): Promise<PublishAnswer> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof DryRun) return error.answer
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
  if (!skill || !(await canWrite(context, skill, user))) {
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
  if (!(await canWrite(context, skill, user)) || (input.visibility !== undefined && !isOwner(skill, user))) {
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

function toAnswer(
  skill: SkillRow,
  version: VersionRow,
  files: Parameters<typeof toVersion>[1],
  created: boolean,
  warnings: readonly Warning[],
): PublishAnswer {
  return { skill: toDetails(skill), version: toVersion(version, files), created, warnings: [...warnings] }
}

function missing(path: string, message: string): RegistryError {
  return new RegistryError('invalid_request', `${path} ${message}`, { errors: [{ path, message }] })
}
