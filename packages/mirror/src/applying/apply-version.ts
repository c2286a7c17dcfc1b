import { systemCaller } from '@skillstead/core'
import {
  countFork,
  ensureNamespace,
  findForkSource,
  insertSkill,
  refreshSkill,
  selectListedVersions,
  storeRecalls,
  storeVersion,
  updateVersion,
  type CatalogueContext,
  type SkillRow,
  type UserRow,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { toApplied } from './apply-changes.ts'
import { emitRecalls, mergeRecalls } from './apply-recall.ts'
import { toEntryTime, type VersionEntry } from './entry-data.ts'
import type { MirrorOutcome } from './mirrored-types.ts'
import { refusePlace } from './place-skill.ts'
import type { PreparedVersion } from './prepare-package.ts'
import { toPublishedText } from './published-text.ts'
import { isSuperseded, needsRelay, wasRelayed, type Relaying } from './relay-entries.ts'
import { refuseScan, refuseTexts } from './scan-refusal.ts'
import { toMirroredSettings, toSkillTexts, updateSkill } from './update-skill.ts'

interface VersionChange {
  /** The stored skill; undefined for a new skill. */
  readonly before: SkillRow | undefined
  /** The scanned version; undefined if it is already stored. */
  readonly prepared: PreparedVersion | undefined
  readonly relaying: Relaying
  readonly isReread: boolean
}

/**
 * Applies a version's entry in a transaction: inserts the skill, with its id at the upstream, and the version, unless
 * they are stored, and updates the skill with the metadata in the entry.
 */
export async function applyVersion(
  context: CatalogueContext,
  trx: WriteTransaction,
  { data, entry }: VersionEntry,
  { before, prepared, relaying, isReread }: VersionChange,
): Promise<MirrorOutcome> {
  const { relay, upstream } = relaying
  const versions = before ? await selectListedVersions(trx, { skillId: before.id }) : []
  const same = versions.find(({ version }) => version === data.version)
  if (same && same.digest !== entry.digest) {
    return refusePlace('version_exists', `${entry.subject} exists with other content, and a version never changes.`)
  }
  if (!same && !prepared) throw new Error(`${entry.subject} disappeared from this node during the sync. Sync again.`)
  if (same && (await wasRelayed(trx, relay))) return { result: 'unchanged' }
  const texts = { ...toSkillTexts(data), changelog: data.changelog }
  const { version: number, publishedAt } = data
  const compared = { number, publishedAt, others: versions, subject: entry.subject }
  const refusal =
    (same ? undefined : await refuseScan(context, trx, { ...prepared!, ...compared })) ??
    (await refuseTexts(context, texts, entry.subject))
  if (refusal) return refusal

  const at = context.clock.now()
  const owner = await ensureNamespace(trx, data.owner.username, at, data.owner.id)
  const received = mergeRecalls(before, data.recalls, at)
  const skillId = before?.id ?? (await insertRow())
  if (before && received) await storeRecalls(trx, before.id, received.recalls)
  // The metadata in the entry of a late version is outdated if later entries of the skill were applied already.
  const isLate = isReread && before !== undefined && !same && (await isSuperseded(trx, before, relay, versions))
  const isChanged = before !== undefined && !isLate && (await updateSkill(context, trx, before, { owner, data, at }))
  const change = { skillId, before, at, relay, mayClaimName: data.holder }
  if (same) {
    // A version that was published on this node gets the time and publisher of its entry when the entry returns from
    // the upstream.
    const isCorrected = await updateVersion(trx, same, {
      yanked: Number(data.yanked),
      published_at: data.publishedAt,
      publisher_id: data.publisher.id,
      publisher: data.publisher.username,
      identity: data.identity ? JSON.stringify(data.identity) : null,
    })
    if (!isChanged && !isCorrected && !received && !(await needsRelay(trx, relay, data.skill.fullName))) {
      return { result: 'unchanged' }
    }
    const cause = { type: 'version', versionId: same.id } as const
    const skill = await refreshSkill(context, trx, { ...change, cause })
    await emitRecalls(context, trx, skill, received)
    return toApplied(before, skill)
  }
  const stored = await storeVersion(
    context,
    trx,
    {
      ...change,
      publication: toPublication(data, owner, prepared!),
      number: data.version,
      // Read again if the recalls above changed, because they change the list.
      others: received ? await selectListedVersions(trx, { skillId }) : versions,
      ...(received && { recalls: received.recalls }),
    },
    systemCaller,
  )
  await emitRecalls(context, trx, stored.skill, received)
  if (!before && data.forkedFrom) {
    const source = await findForkSource(trx, data.forkedFrom.fullName)
    if (source) await countFork(trx, source.id, at)
  }
  return toApplied(before, stored.skill)

  function insertRow(): Promise<string> {
    const { skill, forkedFrom } = data
    const mirrored = { upstream, skillId: skill.id, createdAt: toEntryTime(entry, at) }
    const row = { owner, fields: { name: skill.name }, settings: toMirroredSettings(data), mirrored }
    return insertSkill(trx, { ...row, recalls: received?.recalls, forkedFrom: forkedFrom ?? undefined }, at)
  }
}

/** The version to store, with the metadata of its entry. */
function toPublication(data: VersionEntry['data'], owner: Pick<UserRow, 'id' | 'username'>, prepared: PreparedVersion) {
  return {
    owner,
    publisher: data.publisher,
    identity: data.identity,
    settings: {},
    changelog: toPublishedText(data.changelog, 'changelog'),
    publishedAt: data.publishedAt,
    yanked: data.yanked,
    ...prepared,
  }
}
