import {
  recountCredit,
  type Texts,
  removeCollaborators,
  toColumns,
  type SkillSettings,
  findState,
  type SkillRow,
  type UserRow,
  type WriteTransaction,
} from '@skillstead/core/internal'
import type { SkillEntry, VersionEntry } from './entry-data.ts'
import { toPublishedKeywords, toPublishedText } from './published-text.ts'

type Told = VersionEntry['data'] | SkillEntry['data']

/**
 * Writes what an upstream says of a mirrored skill that is here: that everyone may see it, what it is called, and its
 * settings. What is decided here, such as that it is hidden, stands. The rest follows in `refreshSkill`. Tells whether
 * anything changed.
 */
export async function settleSource(
  trx: WriteTransaction,
  before: SkillRow,
  { owner, data, at }: { owner: Pick<UserRow, 'id' | 'username'>; data: Told; at: number },
): Promise<boolean> {
  if (before.full_name !== data.skill.fullName) await move(trx, before, { owner, fullName: data.skill.fullName, at })
  if (before.source_state !== 'live') {
    await trx.updateTable('skills').set({ source_state: 'live' }).where('id', '=', before.id).execute()
  }
  const state = before.source_state === 'live' ? before.state : await findState(trx, before.id)
  // One that came with its owner's key was private until now.
  const told: Partial<SkillRow> = { ...toColumns(keepCut(before, data)), state, visibility: 'public' }
  const changed = Object.entries(told).filter(([column, value]) => before[column as keyof SkillRow] !== value)
  const columns = { ...Object.fromEntries(changed), origin_synced_at: at }
  await trx.updateTable('skills').set(columns).where('id', '=', before.id).execute()
  return changed.length > 0 || before.full_name !== data.skill.fullName || before.source_state !== 'live'
}

/** What an entry says of the skill rather than of a version, within the bounds of what this node shows. */
export function toSettings(data: Told): SkillSettings {
  return {
    category: toPublishedText(data.category, 'category'),
    repository: toPublishedText(data.repository, 'repository'),
    deprecated: data.deprecated,
    deprecationMessage: toPublishedText(data.deprecationMessage, 'deprecationMessage'),
    ...('version' in data ? {} : toTexts(data)),
  }
}

/** What an entry says of a skill in text, as it is scanned. */
export function toSkillTexts(data: Told): Texts {
  const { displayName, description, category, license, keywords, deprecationMessage } = data
  return { displayName, description, category, license, keywords: keywords.join('\n'), deprecationMessage }
}

/** Of a version these are its own, and the skill has them from its latest one. */
function toTexts(data: Told): SkillSettings {
  return {
    displayName: toPublishedText(data.displayName, 'displayName'),
    description: toPublishedText(data.description, 'description'),
    license: toPublishedText(data.license, 'license'),
    keywords: toPublishedKeywords(data.keywords),
  }
}

/** An entry that is too long for the log tells the beginning of a text; where it is that of the text here, this one stays. */
function keepCut(before: SkillRow, data: Told): SkillSettings {
  const settings = toSettings(data)
  const isSame = (field: string) => {
    const [cut, whole] = [data[field as 'description'], before[columnOf[field] ?? 'description']]
    return typeof cut === 'string' && typeof whole === 'string' && whole.startsWith(cut.slice(0, -1))
  }
  const kept = new Set(data.cut.filter((field) => field === 'keywords' || isSame(field)))
  return Object.fromEntries(Object.entries(settings).filter(([field]) => !kept.has(field)))
}

const columnOf: Readonly<
  Record<string, 'display_name' | 'description' | 'deprecation_message' | 'category' | 'license' | 'repository'>
> = {
  displayName: 'display_name',
  deprecationMessage: 'deprecation_message',
  category: 'category',
  license: 'license',
  repository: 'repository',
}

/** It was handed over where it comes from; the old full name leads to it, as there. */
async function move(
  trx: WriteTransaction,
  before: SkillRow,
  { owner, fullName, at }: { owner: Pick<UserRow, 'id' | 'username'>; fullName: string; at: number },
): Promise<void> {
  await trx.deleteFrom('aliases').where('full_name', '=', fullName).execute()
  const moved = { owner_id: owner.id, owner: owner.username, full_name: fullName }
  await trx.updateTable('skills').set(moved).where('id', '=', before.id).execute()
  await trx
    .insertInto('aliases')
    .values({ full_name: before.full_name, skill_id: before.id, created_at: at })
    .onConflict((conflict) => conflict.column('full_name').doNothing())
    .execute()
  await removeCollaborators(trx, before.id)
  await trx.deleteFrom('shares').where('skill_id', '=', before.id).execute()
  await recountCredit(trx, before.id)
}
