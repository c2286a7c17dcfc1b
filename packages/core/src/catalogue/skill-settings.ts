import type { SkillRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** The settings of the skill itself in a request; undefined fields are unchanged. */
export interface SkillSettings {
  readonly displayName?: string
  readonly description?: string
  readonly category?: string
  readonly license?: string
  readonly keywords?: readonly string[]
  readonly visibility?: SkillRow['visibility']
  readonly deprecated?: boolean
  readonly deprecationMessage?: string
  readonly repository?: string
}

/** Writes the columns that differ from the row; `refreshSkill` updates the rest. Returns whether any differed. */
export async function applySettings(
  trx: WriteTransaction,
  before: SkillRow,
  settings: SkillSettings,
): Promise<boolean> {
  const changed = Object.entries(toColumns(settings)).filter(
    ([name, value]) => value !== before[name as keyof SkillRow],
  )
  if (changed.length === 0) return false
  await trx.updateTable('skills').set(Object.fromEntries(changed)).where('id', '=', before.id).execute()
  return true
}

/** The settings that are given, as columns. */
export function toColumns(settings: SkillSettings): Partial<SkillRow> {
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
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as Partial<SkillRow>
}
