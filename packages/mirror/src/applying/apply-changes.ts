import { systemCaller } from '@skillstead/core'
import {
  ensureNamespace,
  isListedToAll,
  recordAudit,
  refreshSkill,
  removeAtSource,
  markSynced,
  updateVersion,
  type CatalogueContext,
  type SkillRow,
  type WriteTransaction,
} from '@skillstead/core/internal'
import type { RemovalEntry, SkillEntry, YankEntry } from './entry-data.ts'
import { refuseTexts } from './scan-refusal.ts'
import { isDeletedHere, refusePlace } from './place-skill.ts'
import { needsRelay, wasRelayed, type Relaying } from './relay-entries.ts'
import { toSkillTexts, updateSkill } from './update-skill.ts'
import type { MirrorOutcome } from './mirrored-types.ts'

const unchanged: MirrorOutcome = { result: 'unchanged' }

/** The stored skill that an entry changes, and how the entry is relayed. */
export interface Change {
  readonly before: SkillRow
  readonly relaying: Relaying
}

/** Applies changed metadata of a skill. */
export async function applySkill(
  context: CatalogueContext,
  trx: WriteTransaction,
  { data }: SkillEntry,
  { before, relaying }: Change,
): Promise<MirrorOutcome> {
  if (await wasRelayed(trx, relaying.relay)) return unchanged
  const refusal = await refuseTexts(context, toSkillTexts(data), data.skill.fullName)
  if (refusal) return refusal
  const at = context.clock.now()
  const owner = await ensureNamespace(trx, data.owner.username, at, data.owner.id)
  const isChanged = await updateSkill(context, trx, before, { owner, data, at })
  if (!isChanged && !(await needsRelay(trx, relaying.relay, data.skill.fullName))) return unchanged
  const cause = { type: 'skill' } as const
  const change = { skillId: before.id, before, cause, at, relay: relaying.relay, mayClaimName: data.holder }
  return toApplied(before, await refreshSkill(context, trx, change))
}

/** Applies a yank, or the reversal of one. */
export async function applyYank(
  context: CatalogueContext,
  trx: WriteTransaction,
  { data, entry }: YankEntry,
  { before, relaying }: Change,
): Promise<MirrorOutcome> {
  const version = await trx
    .selectFrom('versions')
    .select(['id', 'digest', 'yanked'])
    .where('skill_id', '=', before.id)
    .where('version', '=', data.version)
    .executeTakeFirst()
  const yanked = Number(data.yanked)
  if (!version || version.yanked === yanked || (await wasRelayed(trx, relaying.relay))) return unchanged
  if (version.digest !== entry.digest) {
    return refusePlace(
      'version_exists',
      `${entry.subject} exists on this node with other content than the yanked version.`,
    )
  }
  const at = context.clock.now()
  await updateVersion(trx, version, { yanked })
  await markSynced(trx, before.id, at)
  const cause = { type: 'yank', versionId: version.id } as const
  const skill = await refreshSkill(context, trx, { skillId: before.id, before, cause, at, relay: relaying.relay })
  return toApplied(before, skill)
}

/** Applies a withdrawal or takedown. The name of the skill stays taken on this node, as it does at the upstream. */
export async function applyRemoval(
  context: CatalogueContext,
  trx: WriteTransaction,
  { type, data }: RemovalEntry,
  { before, relaying }: Change,
): Promise<MirrorOutcome> {
  const state = type === 'takedown' ? 'taken_down' : 'withdrawn'
  if (before.full_name !== data.skill.fullName || before.source_state === state || isDeletedHere(before))
    return unchanged
  if (await wasRelayed(trx, relaying.relay)) return unchanged
  const at = context.clock.now()
  await removeAtSource(trx, before.id, { state, at })
  const subject = before.full_name
  const from = { upstream: relaying.upstream }
  await recordAudit(trx, { caller: systemCaller, action: `mirror.${type}`, subject, at, data: from })
  const cause = { type: 'skill' } as const
  await refreshSkill(context, trx, { skillId: before.id, before, cause, at, relay: relaying.relay })
  return { result: 'applied', fullName: subject, hid: isListedToAll(before) }
}

/** The outcome of an applied change, which states whether the skill became or stopped being public. */
export function toApplied(before: SkillRow | undefined, after: SkillRow): MirrorOutcome {
  const [was, is] = [before !== undefined && isListedToAll(before), isListedToAll(after)]
  return { result: 'applied', fullName: after.full_name, hid: was && !is, shown: !was && is }
}
