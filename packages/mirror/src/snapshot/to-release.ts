import { isSkillName, limits } from '@skillstead/protocol'
import { parseSkillMd, readSkillFields, toSlug, type SkillFields } from '@skillstead/skill-format'
import type { KnownSkill, Release } from '../types.ts'
import { numberRelease } from './number-release.ts'

/** A skill from a source without version numbers: the files of one folder or archive. */
export interface FoundSkill {
  readonly owner: string
  readonly name: string
  /** The files, including SKILL.md. */
  readonly files: Release['files']
  /** Used if SKILL.md has no description. */
  readonly description?: string | undefined
  /** Milliseconds since 1970. */
  readonly publishedAt?: number
  readonly repository?: string
}

/** Converts a skill to a release; undefined if the newest stored version has the same content. */
export function toFoundRelease(found: FoundSkill, known: KnownSkill | undefined): Release | undefined {
  const { owner, name, files, publishedAt, repository } = found
  const fields = readFolderFields(files)
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

/** Parses the frontmatter of a release's SKILL.md. */
export function readFolderFields(files: Release['files']): SkillFields {
  const known = read.get(files)
  if (known) return known
  const skillMd = files.find(({ path }) => path === 'SKILL.md')
  const fields = readSkillFields(parseSkillMd(new TextDecoder().decode(skillMd?.bytes)))
  read.set(files, fields)
  return fields
}

/** The parsed frontmatter by a skill's files. Cached, because naming, numbering and filtering all need it. */
const read = new WeakMap<Release['files'], SkillFields>()

/** The name of a skill: the name in its frontmatter, else a name made from its folder; '' if neither gives a name. */
export function toFolderSkillName(files: Release['files'], folder: string): string {
  const fields = readFolderFields(files)
  return fields.name ?? fields.nameSlug ?? toSlug(folder)
}

/** Whether a skill's name is valid as written in the frontmatter or, without one there, as its folder's name. */
export function hasValidFolderName(files: Release['files'], folder: string): boolean {
  const { name, displayName } = readFolderFields(files)
  return name !== undefined || (displayName === undefined && isSkillName(folder))
}
