import { RegistryError, withoutUndefined, entriesOf } from '@skillstead/protocol'
import type { Caller } from '../../kernel/caller.ts'
import { newId } from '../../kernel/ids.ts'
import { recordAudit } from '../../log/audit.ts'
import { compileQuery, compileInsert, type Param } from '../../storage/compiled-query.ts'
import type { SkillRow, SkillState, SkillTable, UserRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import type { SkillSettings } from '../context/ports.ts'
import type { StoredRecall } from '../versions/recalls.ts'
import { noEffect } from '../versions/version-evaluations.ts'
import { selectByFullName } from './find-skill.ts'
import { refreshSkill } from './refresh-skill.ts'

/**
 * The skill to which a full name refers for a publisher, within a transaction; undefined if the name is free. Throws
 * `name_taken` for names of deleted or transferred skills, `taken_down` under a takedown.
 */
export async function findPublishTarget(trx: WriteTransaction, fullName: string): Promise<SkillRow | undefined> {
  const [[skill], [moved]] = await Promise.all([
    selectByFullName(trx, { fullName }),
    selectAliasByName(trx, { fullName }),
  ])
  if (skill?.state === 'withdrawn') {
    throw new RegistryError('name_taken', `${fullName} was deleted, and its name stays reserved. Choose another name.`)
  }
  if (skill?.state === 'taken_down') throw new RegistryError('taken_down', `${fullName} is under a takedown.`)
  if (skill) return skill
  if (moved) {
    throw new RegistryError('name_taken', `${fullName} redirects to a transferred skill. Choose another name.`)
  }
  return undefined
}

interface MirroredFrom {
  readonly upstream: string
  /** The skill's id at the upstream, if known. */
  readonly skillId?: string | undefined
  /** Milliseconds since 1970. */
  readonly createdAt?: number | undefined
}

/** A skill to insert, with its name and settings. */
interface NewSkill {
  readonly owner: Pick<UserRow, 'id' | 'username'>
  readonly fields: { readonly name: string; readonly metadata?: { readonly category?: string | undefined } }
  readonly settings?: SkillSettings
  readonly forkedFrom?: { readonly fullName: string; readonly version: string } | undefined
  readonly mirrored?: MirroredFrom
  readonly imported?: boolean | undefined
  /** The first version, if it is offered. */
  readonly latest?: { readonly version: string; readonly publishedAt: number } | undefined
  /** The recalls that the source of the skill states. Default: none. */
  readonly recalls?: readonly StoredRecall[] | undefined
}

/** Inserts a new skill, before the caller inserts its first version. Returns the id. */
export async function insertSkill(trx: WriteTransaction, skill: NewSkill, now: number): Promise<string> {
  const { owner, fields, settings, forkedFrom, mirrored, imported, latest, recalls = [] } = skill
  const row: Omit<SkillTable, 'num' | 'listed'> = {
    id: mirrored?.skillId ?? newId(),
    owner_id: owner.id,
    owner: owner.username,
    name: fields.name,
    full_name: `${owner.username}/${fields.name}`,
    holds_name: 0,
    display_name: fields.name,
    description: '',
    // These columns get their final value here, so that the update after the first version changes no index.
    category: fields.metadata?.category ?? '',
    latest_version: latest?.version ?? '',
    published_at: latest?.publishedAt ?? now,
    license: '',
    keywords: '[]',
    headings: '[]',
    summary: '',
    visibility: 'public',
    state: 'live',
    stub: 0,
    deprecated: 0,
    deprecation_message: '',
    repository: '',
    described_by: '',
    created_at: mirrored?.createdAt ?? now,
    updated_at: now,
    downloads: 0,
    stars: 0,
    effect_low: noEffect,
    forks: 0,
    security_score: null,
    metadata_scan: '',
    verified: 0,
    forked_from: forkedFrom?.fullName ?? null,
    forked_from_version: forkedFrom?.version ?? null,
    origin_kind: mirrored ? 'mirror' : imported ? 'import' : 'local',
    origin_upstream: mirrored?.upstream ?? null,
    origin_synced_at: mirrored ? now : null,
    source_state: 'live',
    portable: 0,
    credited_stars: 0,
    credited_reviews: 0,
    credited_points: 0,
    agent_installs: 0,
    dependents: 0,
    loaded_by: 0,
    moderation: 'shown',
    moderation_reason: '',
    moderated_at: null,
    revision: 0,
    recalls: JSON.stringify(recalls),
    ...toSettingsColumns(settings ?? {}),
  }
  await insertSkillRow(trx, row)
  return row.id
}

const insertSkillRow = compileInsert('skills')
const selectAliasByName = compileQuery((db, param: Param<{ fullName: string }>) =>
  db.selectFrom('aliases').select('skill_id').where('full_name', '=', param('fullName')),
)

/** Writes the settings that differ from the row; the caller then runs `refreshSkill`. Returns whether any differed. */
export async function applySettings(trx: WriteTransaction, before: SkillRow, settings: SkillSettings) {
  const changed = entriesOf(toSettingsColumns(settings)).filter(([name, value]) => value !== before[name])
  if (changed.length === 0) return false
  await trx.updateTable('skills').set(Object.fromEntries(changed)).where('id', '=', before.id).execute()
  return true
}

export function toSettingsColumns(settings: SkillSettings): Partial<SkillRow> {
  const columns: { [K in keyof SkillRow]?: SkillRow[K] | undefined } = {
    display_name: settings.displayName,
    description: settings.description,
    category: settings.category,
    license: settings.license,
    keywords: settings.keywords && JSON.stringify(settings.keywords),
    visibility: settings.visibility,
    deprecated: settings.deprecated === undefined ? undefined : Number(settings.deprecated),
    deprecation_message: settings.deprecationMessage,
    repository: settings.repository,
  }
  return withoutUndefined(columns)
}

interface Stub {
  readonly owner: Pick<UserRow, 'id' | 'username'>
  readonly name: string
  readonly description: string
  readonly repository: string
}

/**
 * Creates a stub: a skill of which only the name is known, in an unclaimed namespace. Lists include a stub only on
 * request. A stub becomes a skill when the owner publishes it. Returns an existing skill unchanged. Throws `name_taken`
 * and `taken_down`.
 */
export async function putStub(context: CatalogueContext, trx: WriteTransaction, stub: Stub, caller: Caller) {
  const existing = await findPublishTarget(trx, `${stub.owner.username}/${stub.name}`)
  if (existing) return existing
  const at = context.clock.now()
  const id = await insertSkill(trx, { owner: stub.owner, fields: { name: stub.name } }, at)
  const { description, repository } = stub
  const columns = { stub: 1, description, repository, origin_kind: 'external' } as const
  await trx.updateTable('skills').set(columns).where('id', '=', id).execute()
  await recordAudit(trx, { caller, action: 'skill.stub', subject: `${stub.owner.username}/${stub.name}`, at })
  return refreshSkill(context, trx, { skillId: id, before: undefined, cause: { type: 'skill' }, at })
}

/** The states of a takedown case in which the content is hidden (docs/api.md#takedowns). */
const hidingStatuses = ['removed', 'counter_noticed', 'upheld'] as const

/** Stores a moderator's decision, and the state of the skill that follows from it. */
export async function setModeration(
  trx: WriteTransaction,
  skill: SkillRow,
  decided: Pick<SkillRow, 'moderation' | 'moderation_reason' | 'moderated_at'>,
): Promise<void> {
  await trx.updateTable('skills').set(decided).where('id', '=', skill.id).execute()
  await updateSkillState(trx, skill)
}

/**
 * Sets the state of a skill from its cases: a takedown takes precedence over moderation, and nothing restores a skill
 * that its owner deleted. The caller then runs `refreshSkill`. Returns whether the state changed.
 */
export async function updateSkillState(trx: WriteTransaction, skill: SkillRow): Promise<boolean> {
  if (skill.state === 'withdrawn') return false
  const state = await findSkillState(trx, skill.id)
  if (state === skill.state) return false
  await trx.updateTable('skills').set({ state }).where('id', '=', skill.id).execute()
  return true
}

/** The state of a skill that is not deleted. */
export async function findSkillState(trx: WriteTransaction, skillId: string): Promise<SkillState> {
  const takedown = await trx
    .selectFrom('dmca_cases')
    .select('id')
    .where('skill_id', '=', skillId)
    .where('status', 'in', hidingStatuses)
    .limit(1)
    .executeTakeFirst()
  if (takedown) return 'taken_down'
  const { moderation, source_state } = await trx
    .selectFrom('skills')
    .select(['moderation', 'source_state'])
    .where('id', '=', skillId)
    .executeTakeFirstOrThrow()
  // A takedown at the upstream applies here regardless of this node's decisions.
  if (source_state === 'taken_down') return 'taken_down'
  return moderation === 'hidden' ? 'hidden' : 'live'
}
