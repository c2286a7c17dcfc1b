import {
  updateFromSource,
  type CatalogueContext,
  type SkillRow,
  type SkillSettings,
  type Texts,
  type UserRow,
  type WriteTransaction,
} from '@skillstead/core/internal'
import type { SkillEntry, VersionEntry } from './entry-data.ts'
import { toPublishedKeywords, toPublishedText } from './published-text.ts'

type EntryData = VersionEntry['data'] | SkillEntry['data']

/**
 * Writes what an entry states about a stored skill: that it is public, its name and its settings. `refreshSkill`
 * updates all other columns. Returns whether anything changed.
 */
export function updateSkill(
  context: CatalogueContext,
  trx: WriteTransaction,
  before: SkillRow,
  { owner, data, at }: { owner: Pick<UserRow, 'id' | 'username'>; data: EntryData; at: number },
): Promise<boolean> {
  const settings = withoutCut(before, data)
  return updateFromSource(context, trx, before, { owner, fullName: data.skill.fullName, settings, at })
}

/** The settings that an entry states for the skill, limited to what users of this node could publish. */
export function toMirroredSettings(data: EntryData): SkillSettings {
  return {
    category: toPublishedText(data.category, 'category'),
    repository: toPublishedText(data.repository, 'repository'),
    deprecated: data.deprecated,
    deprecationMessage: toPublishedText(data.deprecationMessage, 'deprecationMessage'),
    // In the entry of a version, these fields belong to the version. The skill takes them from its latest version.
    ...(!('version' in data) && {
      displayName: toPublishedText(data.displayName, 'displayName'),
      description: toPublishedText(data.description, 'description'),
      license: toPublishedText(data.license, 'license'),
      keywords: toPublishedKeywords(data.keywords),
    }),
  }
}

/** The texts of an entry that the scan checks. */
export function toSkillTexts(data: EntryData): Texts {
  const { description, category, license, keywords, deprecationMessage } = data
  const displayName = data.skill.fullName.endsWith(`/${data.displayName}`) ? '' : data.displayName
  return { displayName, description, category, license, keywords: keywords.join('\n'), deprecationMessage }
}

/** An entry's settings, without texts that were shortened to fit the log and that the stored text begins with. */
function withoutCut(before: SkillRow, data: EntryData): SkillSettings {
  const isSame = (field: string) => {
    const [cut, whole] = [data[field as 'description'], before[columnOf[field] ?? 'description']]
    return typeof cut === 'string' && typeof whole === 'string' && whole.startsWith(cut.slice(0, -1))
  }
  const omitted = new Set(data.cut.filter((field) => field === 'keywords' || isSame(field)))
  return Object.fromEntries(Object.entries(toMirroredSettings(data)).filter(([field]) => !omitted.has(field)))
}

const columnOf: Readonly<
  Record<string, 'display_name' | 'deprecation_message' | 'category' | 'license' | 'repository'>
> = {
  displayName: 'display_name',
  deprecationMessage: 'deprecation_message',
  category: 'category',
  license: 'license',
  repository: 'repository',
}
