/** A file of a skill, as the address of a resource names it. */
export interface SkillFile {
  /** `owner/name`. */
  readonly fullName: string
  /** Below the folder of the skill. */
  readonly path: string
}

/** The address of a file: `skill://owner/name/SKILL.md`. Throws a URIError for what no address can hold. */
export function toSkillUri({ fullName, path }: SkillFile): string {
  return `skill://${fullName}/${path.split('/').map(encodeURIComponent).join('/')}`
}

/** What an address names; undefined for one that is none of a skill's file. */
export function parseSkillUri(uri: string): SkillFile | undefined {
  const [, owner, name, path] = /^skill:\/\/([a-z0-9-]+)\/([a-z0-9-]+)\/([^?#]+)$/.exec(uri) ?? []
  if (path === undefined) return undefined
  try {
    return { fullName: `${owner}/${name}`, path: path.split('/').map(decodeURIComponent).join('/') }
  } catch {
    return undefined
  }
}
