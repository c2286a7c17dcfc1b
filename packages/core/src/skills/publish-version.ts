import type { EventData, Warning } from '@skillstead/protocol'
import { recordAudit } from '../audit.ts'
import { putBlobs } from '../blobs.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { scorePackage } from '../scan/score-package.ts'
import type { SkillRow, UserRow, VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { chooseVersion } from './choose-version.ts'
import { newId } from '../ids.ts'
import { withoutNul, type PackageFields } from './package-fields.ts'
import { refreshSkill } from './refresh-skill.ts'
import { findTarget, insertSkill } from './skill-rows.ts'
import { applySettings, type SkillSettings } from './settings.ts'
import type { PackedContent } from './skill-package.ts'
import { toVersionSortKey } from '@skillstead/protocol'

/** Everything about a version that is about to be stored, checked already. */
export interface Publication {
  readonly owner: Pick<UserRow, 'id' | 'username'>
  readonly publisher: Pick<UserRow, 'id' | 'username'>
  readonly fields: PackageFields
  readonly content: PackedContent
  readonly settings: SkillSettings
  readonly changelog: string
  /** Milliseconds since 1970; now where it is not said. */
  readonly publishedAt?: number
  readonly forkedFrom?: { readonly fullName: string; readonly version: string }
  /** Part of a history that is imported: its number counts only where it is higher than what is there. */
  readonly imported?: boolean
}

export interface Published {
  readonly skill: SkillRow
  readonly version: VersionRow
  readonly created: boolean
  readonly warnings: readonly Warning[]
}

/**
 * Stores a version within a transaction: the skill where it is new, the version where its content is, and what the
 * request says of the skill in any case. Throws `version_exists`, `name_taken` and `taken_down`.
 */
export async function publishVersion(
  context: Context,
  trx: WriteTransaction,
  publication: Publication,
  caller: Caller,
): Promise<Published> {
  const { fields, settings } = publication
  const now = context.clock.now()
  const before = await findTarget(trx, `${publication.owner.username}/${fields.name}`)
  const choice = await chooseVersion(trx, before, publication)
  // Part of a history that is here already says nothing new: an old one would bring back its old category, and the
  // next take it away again, a change of the log each time.
  if (choice.existing && publication.imported) {
    return { skill: before!, version: choice.existing, created: false, warnings: fields.warnings }
  }
  const skillId = before?.id ?? (await insertSkill(trx, publication, now))
  const changed = before !== undefined && (await applySettings(trx, before, settings))
  const change = { dialect: context.database.dialect, skillId, before, at: now }

  if (choice.existing) {
    const skill = changed ? await refreshSkill(trx, { ...change, deed: { type: 'skill' } }) : before!
    return { skill, version: choice.existing, created: false, warnings: fields.warnings }
  }
  const version = await insertVersion(trx, skillId, choice.number, publication, now)
  if (before?.stub)
    await trx.updateTable('skills').set({ stub: 0, origin_kind: 'local' }).where('id', '=', skillId).execute()
  const skill = await refreshSkill(trx, {
    ...change,
    deed: { type: 'version', versionId: version.id },
    known: [version.id, { metadata: fields.metadata, files: publication.content.files }],
  })
  await recordAudit(trx, {
    caller,
    action: 'skill.publish',
    subject: `${skill.full_name}@${version.version}`,
    at: now,
    data: { digest: version.digest },
  })
  const data = () => toEventData(skill, version, publication, now)
  await context.events.emit(trx, { event: 'skill.published', skill, data })
  return { skill, version, created: true, warnings: fields.warnings }
}

function toEventData(
  { id, name, full_name: fullName }: SkillRow,
  { version }: VersionRow,
  { fields, content, publisher }: Publication,
  now: number,
): EventData<'skill.published'> {
  const { description } = fields.metadata
  const securityScore = scorePackage(content.sources, now)
  return {
    skill: { id, name, fullName, version, description, securityScore },
    publisher: { id: publisher.id, username: publisher.username },
  }
}

async function insertVersion(
  trx: WriteTransaction,
  skillId: string,
  number: string,
  publication: Publication,
  now: number,
): Promise<VersionRow> {
  const { content, fields, publisher, changelog, publishedAt } = publication
  const version: VersionRow = {
    id: newId(),
    skill_id: skillId,
    version: number,
    sort_key: toVersionSortKey(number),
    digest: content.digest,
    size: content.size,
    changelog: withoutNul(changelog),
    portable: fields.portable ? 1 : 0,
    yanked: 0,
    published_at: publishedAt ?? now,
    publisher_id: publisher.id,
    publisher: publisher.username,
    metadata: JSON.stringify(fields.metadata),
  }
  await putBlobs(trx, content.blobs)
  await trx.insertInto('versions').values(version).execute()
  // In pieces: PostgreSQL takes 65,535 parameters a statement, SQLite 32,766.
  for (let i = 0; i < content.files.length; i += 100) {
    const rows = content.files.slice(i, i + 100).map((file) => ({ version_id: version.id, ...file }))
    await trx.insertInto('version_files').values(rows).execute()
  }
  return version
}
