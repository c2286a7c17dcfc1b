import { RegistryError } from '@skillstead/protocol'
import { newId } from '../kernel/ids.ts'
import { keepCompiled, keepInsert } from '../storage/compiled-query.ts'
import type { SkillRow, SkillTable, UserRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toColumns, type SkillSettings } from './skill-settings.ts'

/**
 * The skill to which a full name refers for a publisher, within a transaction; undefined if the name is free. Throws
 * `name_taken` for names of deleted or transferred skills, `taken_down` under a takedown.
 */
export async function findTarget(trx: WriteTransaction, fullName: string): Promise<SkillRow | undefined> {
  const [skill] = await selectByName(trx, { fullName })
  if (skill?.state === 'withdrawn') {
    throw new RegistryError('name_taken', `${fullName} was deleted, and its name stays reserved. Choose another name.`)
  }
  if (skill?.state === 'taken_down') throw new RegistryError('taken_down', `${fullName} is under a takedown.`)
  if (skill) return skill
  const [moved] = await selectMoved(trx, { fullName })
  if (moved) {
    throw new RegistryError('name_taken', `${fullName} redirects to a transferred skill. Choose another name.`)
  }
  return undefined
}

/** The origin of a mirrored skill, and the fields taken from there. */
export interface MirroredFrom {
  readonly upstream: string
  /** The skill's id at the upstream, if known. */
  readonly skillId?: string | undefined
  /** Milliseconds since 1970. */
  readonly createdAt?: number | undefined
}

/** Inserts a new skill with its name and settings; its first version follows. Returns the id. */
export async function insertSkill(
  trx: WriteTransaction,
  {
    owner,
    fields,
    settings,
    forkedFrom,
    mirrored,
    imported,
  }: {
    owner: Pick<UserRow, 'id' | 'username'>
    fields: { name: string }
    settings?: SkillSettings
    forkedFrom?: { fullName: string; version: string } | undefined
    mirrored?: MirroredFrom
    imported?: boolean | undefined
  },
  now: number,
): Promise<string> {
  const row: Omit<SkillTable, 'num'> = {
    id: mirrored?.skillId ?? newId(),
    owner_id: owner.id,
    owner: owner.username,
    name: fields.name,
    full_name: `${owner.username}/${fields.name}`,
    holds_name: 0,
    display_name: fields.name,
    description: '',
    category: '',
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
    latest_version: '',
    described_by: '',
    published_at: now,
    created_at: mirrored?.createdAt ?? now,
    updated_at: now,
    downloads: 0,
    stars: 0,
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
    moderation: 'shown',
    moderation_reason: '',
    moderated_at: null,
    revision: 0,
    ...toColumns(settings ?? {}),
  }
  await insertRow(trx, row)
  return row.id
}

const insertRow = keepInsert('skills')
const selectMoved = keepCompiled((db, { fullName }: { fullName: string }) =>
  db.selectFrom('aliases').select('skill_id').where('full_name', '=', fullName),
)
const selectByName = keepCompiled((db, { fullName }: { fullName: string }) =>
  db.selectFrom('skills').selectAll().where('full_name', '=', fullName),
)
