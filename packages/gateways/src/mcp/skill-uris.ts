import { attempt } from '@skillstead/protocol'

/** A file of a skill, as named by a resource URI. */
export interface SkillFile {
  /** `owner/name`. */
  readonly fullName: string
  /** Path below the folder of the skill. */
  readonly path: string
}

/** The URI of a file: `skill://owner/name/SKILL.md`. Throws a URIError for text that a URI cannot contain. */
export function toSkillUri({ fullName, path }: SkillFile): string {
  return `skill://${fullName}/${path.split('/').map(encodeURIComponent).join('/')}`
}

/** Parses a resource URI; undefined if it does not name a file of a skill. */
export function parseSkillUri(uri: string): SkillFile | undefined {
  const [, owner, name, path] = /^skill:\/\/([a-z0-9-]+)\/([a-z0-9-]+)\/([^?#]+)$/.exec(uri) ?? []
  const decoded = path && attempt(() => path.split('/').map(decodeURIComponent).join('/'))
  return decoded === undefined ? undefined : { fullName: `${owner}/${name}`, path: decoded }
}
