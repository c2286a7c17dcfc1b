import { withoutUndefined } from '@skillstead/protocol'
import {
  offeredVersion,
  type Param,
  type PublishedHere,
  type SettingsChange,
  isPublished,
  type SkillSettings,
  compileQuery,
  type SkillRow,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { insertWrite, selectPublishing, writableKinds, type WriteParts } from './upstream-write.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/**
 * Queues a public version or fork for each upstream at which its publisher has an account, in the transaction that
 * stores it. Versions of a mirrored skill go only to the skill's upstream, and a fork only to upstreams that have the
 * skill that was forked.
 */
export async function queuePublish(trx: WriteTransaction, parts: WriteParts, change: PublishedHere): Promise<void> {
  const { skill, version, userId, forkedFrom } = change
  for (const upstream of await findLinked(trx, skill, userId)) {
    const common = { skillId: skill.id, by: 'user', version: version.version, digest: version.digest } as const
    const write = { upstream, userId, subject: skill.full_name }
    if (!forkedFrom) {
      const payload = { ...common, settings: toSentSettings(change.settings) }
      await insertWrite(trx, parts, { ...write, kind: 'publish', payload })
    } else if (await hasMirroredSkill(trx, upstream.name, forkedFrom.fullName)) {
      const payload = { ...common, source: forkedFrom.fullName }
      await insertWrite(trx, parts, { ...write, kind: 'fork', payload })
    }
  }
}

/**
 * Queues changed settings of a skill for the upstreams that have the skill. A skill that becomes public is queued with
 * all its versions.
 */
export async function queueSettings(trx: WriteTransaction, parts: WriteParts, change: SettingsChange): Promise<void> {
  const { before, skill, userId } = change
  const upstreams = await findLinked(trx, skill, userId)
  if (upstreams.length === 0) return
  if (before.visibility !== 'public') return queueHistory(trx, parts, { skill, userId })
  const settings = toSentSettings(change.settings)
  if (Object.keys(settings).length === 0) return
  for (const upstream of upstreams) {
    if (!(await hasMirroredSkill(trx, upstream.name, skill.full_name))) continue
    const payload = { skillId: skill.id, by: 'user', settings } as const
    await insertWrite(trx, parts, { upstream, userId, subject: skill.full_name, kind: 'publish', payload })
  }
}

async function queueHistory(
  trx: WriteTransaction,
  parts: WriteParts,
  { skill, userId }: { skill: SkillRow; userId: string },
): Promise<void> {
  const versions = await trx
    .selectFrom('versions')
    .select(['version', 'digest'])
    .where('skill_id', '=', skill.id)
    .where(offeredVersion)
    .orderBy('sort_key')
    .execute()
  const { category, repository } = skill
  const settings = { ...(category !== '' && { category }), ...(repository !== '' && { repository }) }
  for (const version of versions) {
    await queuePublish(trx, parts, { skill, version, userId, settings })
  }
}

/** The settings to send to an upstream, without the visibility, on which each registry decides itself. */
function toSentSettings(settings: SkillSettings): SkillSettings {
  return withoutUndefined({ ...settings, visibility: undefined })
}

const selectLinks = compileQuery((db, param: Param<{ userId: string }>) =>
  withUpstreams(db)
    .selectFrom('upstream_links')
    .innerJoin('upstreams', 'upstreams.name', 'upstream_links.upstream')
    .select(['upstreams.name', 'upstreams.location', 'upstreams.kind'])
    .where('upstream_links.user_id', '=', param('userId')),
)

/** The upstreams to which a user's changes of a skill are sent; none if the skill is not public. */
async function findLinked(trx: WriteTransaction, skill: SkillRow, userId: string) {
  if (!isPublished(skill)) return []
  const linked = (await selectLinks(trx, { userId })).filter(({ kind }) => writableKinds.has(kind))
  return skill.origin_kind === 'mirror' ? linked.filter(({ name }) => name === skill.origin_upstream) : linked
}

/** Whether an upstream has a skill, or will receive it by a queued write. */
async function hasMirroredSkill(trx: WriteTransaction, upstream: string, fullName: string): Promise<boolean> {
  const mirrored = await trx
    .selectFrom('skills')
    .select('id')
    .where('full_name', '=', fullName)
    .where('origin_kind', '=', 'mirror')
    .where('origin_upstream', '=', upstream)
    .executeTakeFirst()
  if (mirrored) return true
  const written = selectPublishing(trx, upstream).where('subject', '=', fullName).select('id').limit(1)
  return (await written.executeTakeFirst()) !== undefined
}
