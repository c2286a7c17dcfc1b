import { readFile, stat } from 'node:fs/promises'
import { basename, posix } from 'node:path'
import { RegistryError } from '@skillstead/protocol'
import type { ArchiveEntry } from './entry-options.ts'
import { readValidNamesFirst } from './name-order.ts'
import { readArchived, readArchiveEntries } from './read-archive.ts'
import { isEscape, isSkillMd, notUtf8, selectSkills } from './select-files.ts'
import { readSourceItem, type Source, type SourceItem } from './skill-records.ts'

/** Limits of an archive of many skills, which may be larger than the archive of one skill. */
const zipBytesMax = 512 * 1024 * 1024
const zipLimits = { entriesMax: 400_000, bytesMax: 1024 * 1024 * 1024 }

/** Reads an archive of skills: every folder with a SKILL.md is a skill. Malicious archives are refused as a whole. */
export function openZip(file: string, type: 'zip' | 'tar.gz' = 'zip'): Source {
  let share = 0
  async function* items(): AsyncGenerator<SourceItem> {
    const entries = await readManyEntries(file, type)
    const archiveName = basename(file).replace(/\.(zip|tgz|tar\.gz)$/i, '')
    const skills = selectSkills(entries)
    const unread = entries.filter(isUnnamedSkill)
    if (skills.length + unread.length === 0) throw new RegistryError('invalid_request', `${file} contains no SKILL.md.`)
    yield* readValidNamesFirst(skills, (skill) => {
      share = Math.min(1, share + 1 / skills.length)
      const { folder, document: id } = skill
      const path = folder === '' ? posix.join(archiveName, id) : id
      return readSourceItem(skill, { id, path }, readArchived)
    })
    for (const { path } of unread) yield { id: path, reason: notUtf8 }
    share = 1
  }
  return { items: items(), share: () => share }
}

/**
 * Reads the entries of an archive of many skills. Throws `invalid_request` for an archive that is too large or
 * malicious, and the errors of {@link readArchiveEntries}.
 */
export async function readManyEntries(file: string, type: 'zip' | 'tar.gz'): Promise<ArchiveEntry[]> {
  const { size } = await stat(file)
  if (size > zipBytesMax)
    throw new RegistryError(
      'invalid_request',
      `${file} is larger than ${zipBytesMax / 1024 / 1024} MiB. Unpack it and import the folder.`,
    )
  const entries = await readArchiveEntries(await readFile(file), type, zipLimits)
  refuseEscapes(file, entries)
  return entries
}

/** A SKILL.md in a folder whose name could not be decoded. */
function isUnnamedSkill({ path, problem }: ArchiveEntry): boolean {
  return problem === notUtf8 && isSkillMd(posix.basename(path))
}

/** An archive with a path that leaves it is malicious; refuse all of it. */
function refuseEscapes(file: string, entries: readonly ArchiveEntry[]): void {
  const escape = entries.find(({ path, problem }) =>
    // The backslashes of a name that was not decoded are those of its escaped bytes.
    isEscape(problem === notUtf8 ? path.replaceAll('\\', '_') : path),
  )
  if (escape)
    throw new RegistryError(
      'invalid_request',
      `${file} contains the path ${escape.path}, which leads out of the archive. Nothing was imported.`,
    )
}
