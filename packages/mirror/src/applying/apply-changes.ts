import { systemCaller } from '@skillstead/core'
import {
  type CatalogueContext,
  ensureNamespace,
  isPublicMatter,
  recordAudit,
  refreshSkill,
  type SkillRow,
  type WriteTransaction,
} from '@skillstead/core/internal'
import type { RemovalEntry, SkillEntry, YankEntry } from './entry-data.ts'
import { refuseTexts } from './refuse-texts.ts'
import { isDeletedHere, refuse } from './place-skill.ts'
import { isUntold, wasSaid, type Relaying } from './relay-entries.ts'
import { settleSource, toSkillTexts } from './settle-source.ts'
import type { MirrorOutcome } from './mirrored-types.ts'

const unchanged: MirrorOutcome = { result: 'unchanged' }

/** A change of what is said of a skill. */
export async function applySkill(
  context: CatalogueContext,
  trx: WriteTransaction,
  { data }: SkillEntry,
  { before, relaying }: { before: SkillRow; relaying: Relaying },
): Promise<MirrorOutcome> {
  if (await wasSaid(trx, relaying.relay)) return unchanged
  const refusal = await refuseTexts(context, toSkillTexts(data), data.skill.fullName)
  if (refusal) return refusal
  const at = context.clock.now()
  const owner = await ensureNamespace(trx, data.owner.username, at, data.owner.id)
  const changed = await settleSource(trx, before, { owner, data, at })
  if (!changed && !(await isUntold(trx, relaying.relay, data.skill.fullName))) return unchanged
  const cause = { type: 'skill' } as const
  const change = { skillId: before.id, before, cause, at, relay: relaying.relay, mayHold: data.holder }
  const skill = await refreshSkill(context, trx, change)
  return { result: 'applied', fullName: skill.full_name, ...toSight(before, skill) }
}

/** A yank, or one that is taken back. */
export async function applyYank(
  context: CatalogueContext,
  trx: WriteTransaction,
  { data, entry }: YankEntry,
  { before, relaying }: { before: SkillRow; relaying: Relaying },
): Promise<MirrorOutcome> {
  const version = await trx
    .selectFrom('versions')
    .select(['id', 'digest', 'yanked'])
    .where('skill_id', '=', before.id)
    .where('version', '=', data.version)
    .executeTakeFirst()
  if (!version || version.yanked === Number(data.yanked) || (await wasSaid(trx, relaying.relay))) return unchanged
  if (version.digest !== entry.digest) {
    return refuse('version_exists', `${entry.subject} is here with other content than the one that is yanked.`)
  }
  const at = context.clock.now()
  await trx
    .updateTable('versions')
    .set({ yanked: Number(data.yanked) })
    .where('id', '=', version.id)
    .execute()
  await trx.updateTable('skills').set({ origin_synced_at: at }).where('id', '=', before.id).execute()
  const cause = { type: 'yank', versionId: version.id } as const
  const skill = await refreshSkill(context, trx, { skillId: before.id, before, cause, at, relay: relaying.relay })
  return { result: 'applied', fullName: skill.full_name, ...toSight(before, skill) }
}

/** What takes a skill out of public sight. Its name stays taken here as there. */
export async function applyRemoval(
  context: CatalogueContext,
  trx: WriteTransaction,
  { type, data }: RemovalEntry,
  { before, relaying }: { before: SkillRow; relaying: Relaying },
): Promise<MirrorOutcome> {
  const state = type === 'takedown' ? 'taken_down' : 'withdrawn'
  if (before.full_name !== data.skill.fullName || before.source_state === state || isDeletedHere(before))
    return unchanged
  if (await wasSaid(trx, relaying.relay)) return unchanged
  const at = context.clock.now()
  const columns = { source_state: state, state, origin_synced_at: at } as const
  await trx.updateTable('skills').set(columns).where('id', '=', before.id).execute()
  await trx.deleteFrom('transfers').where('skill_id', '=', before.id).execute()
  const subject = before.full_name
  const from = { upstream: relaying.upstream }
  await recordAudit(trx, { caller: systemCaller, action: `mirror.${type}`, subject, at, data: from })
  const cause = { type: 'skill' } as const
  await refreshSkill(context, trx, { skillId: before.id, before, cause, at, relay: relaying.relay })
  return { result: 'applied', fullName: subject, hid: isShown(before) }
}

/** What became of a skill in public sight. */
export function toSight(
  before: SkillRow | undefined,
  after: SkillRow,
): { readonly hid: boolean; readonly shown: boolean } {
  const [was, is] = [before !== undefined && isShown(before), isShown(after)]
  return { hid: was && !is, shown: !was && is }
}

function isShown(skill: SkillRow): boolean {
  return isPublicMatter(skill) && skill.latest_version !== ''
}
