import { limits } from '@skillstead/protocol'
import { parseSkillMd, readSkillFields, toSlug, type SkillFields } from '@skillstead/skill-format'
import type { KnownSkill, Release } from '../types.ts'
import { numberRelease } from './number-release.ts'

/** A skill of a source that numbers nothing: what lies in one folder or archive. */
export interface FoundSkill {
  readonly owner: string
  readonly name: string
  /** SKILL.md among them. */
  readonly files: Release['files']
  /** Where SKILL.md has none. */
  readonly description?: string | undefined
  /** Milliseconds since 1970. */
  readonly publishedAt?: number
  readonly repository?: string
}

/** The release that a skill is now; undefined where the newest version here has the same content. */
export function toRelease(found: FoundSkill, known: KnownSkill | undefined): Release | undefined {
  const { owner, name, files, publishedAt, repository } = found
  const fields = readFields(files)
  const version = numberRelease(files, fields.version, known)
  if (version === undefined) return undefined
  const description = fields.description ? undefined : found.description?.slice(0, limits.descriptionCharactersMax)
  return {
    owner,
    name,
    version,
    files,
    visibility: 'public',
    ...(description && { description }),
    ...(fields.displayName && { displayName: fields.displayName }),
    ...(publishedAt !== undefined && { publishedAt }),
    ...(repository && { repository }),
  }
}

/** What the frontmatter of a SKILL.md says. */
export function readFields(files: Release['files']): SkillFields {
  const known = read.get(files)
  if (known) return known
  const skillMd = files.find(({ path }) => path === 'SKILL.md')
  const fields = readSkillFields(parseSkillMd(new TextDecoder().decode(skillMd?.bytes)))
  read.set(files, fields)
  return fields
}

/** Asked for more than once of each package, by those who name, number and filter it. */
const read = new WeakMap<Release['files'], SkillFields>()

/** The name of a skill: that of its frontmatter, else of its folder; '' where neither gives one. */
export function toSkillName(files: Release['files'], folder: string): string {
  const fields = readFields(files)
  return fields.name ?? fields.nameSlug ?? toSlug(folder)
}
