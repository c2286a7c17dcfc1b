import { systemCaller } from '@skillstead/core'
import {
  announceVersion,
  type CatalogueContext,
  ensureNamespace,
  insertSkill,
  type ListedVersion,
  type Publication,
  refreshSkill,
  selectVersions,
  type SkillRow,
  storeVersion,
  toAction,
  toPolicyVerdict,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { toCreatedAt, type VersionEntry } from './entry-data.ts'
import { toSight } from './apply-changes.ts'
import { creditSource } from './fork-source.ts'
import { refuse } from './place-skill.ts'
import { toPublishedText } from './published-text.ts'
import { refuseTexts } from './refuse-texts.ts'
import type { PreparedVersion } from './prepare-versions.ts'
import { settleSource, toSettings, toSkillTexts } from './settle-source.ts'
import type { MirrorOutcome } from './mirrored-types.ts'
import { isOvertaken, isUntold, wasSaid, type Relaying } from './relay-entries.ts'

/**
 * A version of an upstream's log, within a transaction: the skill where it is new, under the id that it has there, the
 * version where it is new, and what the entry says of the skill in any case.
 */
export async function applyVersion(
  context: CatalogueContext,
  trx: WriteTransaction,
  { data, entry }: VersionEntry,
  {
    before,
    prepared,
    relaying,
    isReread,
  }: {
    before: SkillRow | undefined
    prepared: PreparedVersion | undefined
    relaying: Relaying
    isReread: boolean
  },
): Promise<MirrorOutcome> {
  const versions = before ? await selectVersions(trx, { skillId: before.id }) : []
  const same = versions.find(({ version }) => version === data.version)
  if (same && same.digest !== entry.digest) {
    return refuse('version_exists', `${entry.subject} is here with other content, and a version never changes.`)
  }
  if (!same && !prepared) throw new Error(`${entry.subject} was here a moment ago. Sync again.`)
  if (same && (await wasSaid(trx, relaying.relay))) return { result: 'unchanged' }
  const refusal = same ? undefined : refuseScan(context, prepared!.inspection, entry.subject)
  if (refusal) return refusal
  const texts = { ...toSkillTexts(data), changelog: data.changelog }
  const textRefusal = await refuseTexts(context, texts, entry.subject)
  if (textRefusal) return textRefusal

  const at = context.clock.now()
  const owner = await ensureNamespace(trx, data.owner.username, at, data.owner.id)
  const skillId = before?.id ?? (await insertRow(trx, { data, entry }, { owner, upstream: relaying.upstream, at }))
  // Of one that comes late the skill has said since what it is called, and the like.
  const isLate = isReread && before !== undefined && !same && (await isOvertaken(trx, before, relaying.relay, versions))
  const changed = before !== undefined && !isLate && (await settleSource(trx, before, { owner, data, at }))
  const change = { skillId, before, at, relay: relaying.relay, mayHold: data.holder }
  if (same) {
    const told = await correctVersion(trx, same, { data, entry })
    const isNews = changed || told || (await isUntold(trx, relaying.relay, data.skill.fullName))
    if (!isNews) return { result: 'unchanged' }
    return toApplied(
      before,
      await refreshSkill(context, trx, { ...change, cause: { type: 'version', versionId: same.id } }),
    )
  }
  const publication = toPublication({ data, entry }, prepared!, owner)
  const stored = await storeVersion(context, trx, { ...change, publication, number: data.version, others: versions })
  await announceVersion(context, trx, stored, { publication, caller: systemCaller })
  if (!before) await creditSource(context, trx, stored.skill, at)
  return toApplied(before, stored.skill)
}

function toApplied(before: SkillRow | undefined, skill: SkillRow): MirrorOutcome {
  return { result: 'applied', fullName: skill.full_name, ...toSight(before, skill) }
}

/** A node keeps nothing of others that it would not take from its own users; nobody here could answer for it. */
export function refuseScan(context: CatalogueContext, { scan }: PreparedVersion['inspection'], subject: string) {
  if (toAction(context.scanPolicy, scan) === 'warn') return undefined
  return refuse(
    'policy',
    `The scan calls ${subject} ${toPolicyVerdict(scan)}, which this node's policy does not let in.`,
  )
}

type Version = Pick<VersionEntry, 'data' | 'entry'>

function insertRow(
  trx: WriteTransaction,
  { data, entry }: Version,
  { owner, upstream, at }: { owner: Publication['owner']; upstream: string; at: number },
): Promise<string> {
  const { skill, forkedFrom } = data
  const mirrored = { upstream, skillId: skill.id, createdAt: toCreatedAt(entry, at) }
  const row = { owner, fields: { name: skill.name }, settings: toSettings(data), mirrored }
  return insertSkill(trx, { ...row, forkedFrom: forkedFrom ?? undefined }, at)
}

function toPublication({ data }: Version, prepared: PreparedVersion, owner: Publication['owner']) {
  return {
    owner,
    publisher: data.publisher,
    settings: {},
    changelog: toPublishedText(data.changelog, 'changelog'),
    publishedAt: data.publishedAt,
    yanked: data.yanked,
    ...prepared,
  }
}

/** What the source says of a version that is here, such as of one that was published on this node and came back from there. */
async function correctVersion(trx: WriteTransaction, same: ListedVersion, { data }: Version): Promise<boolean> {
  const row = {
    yanked: Number(data.yanked),
    published_at: data.publishedAt,
    publisher_id: data.publisher.id,
    publisher: data.publisher.username,
  }
  if (Object.entries(row).every(([column, value]) => same[column as keyof typeof row] === value)) return false
  await trx.updateTable('versions').set(row).where('id', '=', same.id).execute()
  return true
}
