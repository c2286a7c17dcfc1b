import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { isUsername, limits, reservedOwners } from '@skillstead/protocol'
import { parseSkillMd, readSkillFields, toSlug } from '@skillstead/skill-format'
import type { SkillRecord } from '@skillstead/skill-format/archives'

/** The name of an imported skill in the registry. */
export interface ImportName {
  readonly owner: string
  readonly name: string
  /** The name as the author wrote it; undefined if that is equal to `name`. */
  readonly displayName: string | undefined
}

/**
 * Returns a function that gives each record of a source its full name; undefined for a record without an author. Call
 * the function once per record, in order. Names depend on the owner and the source alone, so that every import gives
 * the same names.
 */
export function createNamer(owner: string | undefined): (record: SkillRecord) => ImportName | undefined {
  /** For each name that is taken, the folders of the skills that have or wanted this name. */
  const taken = new Map<string, string[][]>()

  return (record) => {
    const username = toUsername(owner ?? record.owner ?? '')
    if (username === '') return undefined
    const written = record.name ?? readFrontmatterName(record.skillMd) ?? getFolderName(record)
    const plain = toSlug(written) || toSlug(getFolderName(record)) || `skill-${toNameHash(record.id)}`
    const folders = posix
      .dirname(record.path)
      .split('/')
      .filter((folder) => folder !== '.' && folder !== '')
    const name = chooseName(username, plain, folders)
    const others = taken.get(`${username}/${plain}`) ?? []
    taken.set(`${username}/${plain}`, [...others, folders])
    if (name !== plain) taken.set(`${username}/${name}`, [folders])
    return { owner: username, name, displayName: written === name ? undefined : written }
  }

  /**
   * The first skill with a name keeps the plain name. A later skill gets a parent folder as a prefix of its name: the
   * nearest folder that contains no earlier skill with this name, otherwise another folder. If no such name is free,
   * the name ends with a number.
   */
  function chooseName(username: string, plain: string, folders: string[]): string {
    const others = taken.get(`${username}/${plain}`)
    if (!others) return plain
    const telling = folders.toReversed().filter((folder) => !others.some((other) => other.includes(folder)))
    for (const folder of [...telling, ...folders.toReversed()]) {
      const name = joinNameParts(toSlug(folder), plain)
      if (name !== plain && !taken.has(`${username}/${name}`)) return name
    }
    for (let number = 2; ; number++) {
      const name = joinNameParts(plain, String(number))
      if (!taken.has(`${username}/${name}`)) return name
    }
  }
}

/** A username from an author's name; '' if no valid username remains. A reserved name gets the suffix `-author`. */
function toUsername(text: string): string {
  const slug = toSlug(text).slice(0, limits.usernameCharactersMax).replace(/-$/, '')
  if (!isUsername(slug)) return ''
  return reservedOwners.has(slug) ? `${slug}-author` : slug
}

function joinNameParts(first: string, second: string): string {
  if (first === '') return second
  const room = limits.skillNameCharactersMax - second.length - 1
  return room > 0
    ? `${first.slice(0, room).replace(/-$/, '')}-${second}`
    : `${first}-${second}`.slice(0, limits.skillNameCharactersMax).replace(/-$/, '')
}

function readFrontmatterName(skillMd: string): string | undefined {
  const fields = readSkillFields(parseSkillMd(skillMd))
  return fields.displayName ?? fields.name
}

function getFolderName({ path, id }: SkillRecord): string {
  const folder = posix.basename(posix.dirname(path))
  return folder === '' || folder === '.' || folder === '/' ? posix.basename(id) : folder
}

function toNameHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
