import { readFile, stat } from 'node:fs/promises'
import { basename, posix } from 'node:path'
import { limits, RegistryError } from '@skillstead/protocol'
import { gitFolderLeftOut } from './git-paths.ts'
import type { ArchiveFile } from './entry-options.ts'
import { readArchiveFiles } from './read-archive.ts'
import { isSkillMd, skipped, toNestedGit } from './skill-folder.ts'
import { decodeText, findTextProblem, type Source, type SourceItem } from './skill-records.ts'

/** An archive of many skills may be larger than the archive of one skill. */
const zipBytesMax = 512 * 1024 * 1024
const zipLimits = { filesMax: 50_000, fileBytesMax: limits.fileBytesMax, versionBytesMax: 1024 * 1024 * 1024 }

/** Reads an archive of skills: every folder with a SKILL.md is a skill. Malicious archives are refused as a whole. */
export function openZip(file: string, type: 'zip' | 'tar.gz' = 'zip'): Source {
  let share = 0
  async function* items(): AsyncGenerator<SourceItem> {
    const { size } = await stat(file)
    if (size > zipBytesMax)
      throw new RegistryError(
        'invalid_request',
        `${file} is larger than ${zipBytesMax / 1024 / 1024} MiB. Unpack it and import the folder.`,
      )
    const { files, gitFolders } = await readArchiveFiles(await readFile(file), type, zipLimits)
    refuseEscapes(file, files)
    const archiveName = basename(file).replace(/\.(zip|tgz|tar\.gz)$/i, '')
    const skills = groupBySkill(files.filter(isWanted), gitFolders.filter(isOutsideModules), archiveName)
    if (skills.length === 0) throw new RegistryError('invalid_request', `${file} contains no SKILL.md.`)
    for (const [i, item] of skills.entries()) {
      share = i / skills.length
      yield item
    }
    share = 1
  }
  return { items: items(), share: () => share }
}

/** An archive with a path that leaves it is malicious; refuse all of it. */
function refuseEscapes(file: string, entries: readonly ArchiveFile[]): void {
  const escape = entries.find(
    ({ path }) => path.startsWith('/') || path.includes('\\') || path.split('/').includes('..'),
  )
  if (escape)
    throw new RegistryError(
      'invalid_request',
      `${file} contains the path ${escape.path}, which leads out of the archive. Nothing was imported.`,
    )
}

function isWanted({ path }: ArchiveFile): boolean {
  return !path.split('/').some((segment) => skipped.has(segment))
}

function isOutsideModules(path: string): boolean {
  return !path.split('/').includes('node_modules')
}

/** Each file and each `.git` belongs to the nearest parent folder with a SKILL.md. */
function groupBySkill(
  entries: readonly ArchiveFile[],
  gitFolders: readonly string[],
  archiveName: string,
): SourceItem[] {
  const documents = Map.groupBy(
    entries.filter(({ path }) => isSkillMd(posix.basename(path))),
    ({ path }) => posix.dirname(path),
  )
  const filesOf = Map.groupBy(
    entries.filter((entry) => !isSkillMd(posix.basename(entry.path))),
    ({ path }) => findSkillFolder(path, documents),
  )
  const gitFoldersOf = Map.groupBy(gitFolders, (path) => findSkillFolder(path, documents))
  return [...documents].map(([folder, [document, ...others]]) => {
    const { path: id, bytes: skillMd } = document!
    if (others.length > 0)
      return { id, reason: `It has a second ${others[0]!.path}; there must be exactly one SKILL.md.` }
    const inside = gitFoldersOf.get(folder) ?? []
    const nested = inside.find((path) => posix.dirname(path) !== folder)
    if (nested !== undefined) return { id, reason: toNestedGit(nested) }
    const reason = findTextProblem(skillMd)
    if (reason !== undefined) return { id, reason }
    return {
      id,
      path: folder === '.' ? posix.join(archiveName, id) : id,
      history: [],
      skillMd: decodeText(skillMd),
      files: (filesOf.get(folder) ?? []).map((file) => ({ ...file, path: posix.relative(folder, file.path) })),
      filesMissing: 0,
      warnings: inside.length > 0 ? [gitFolderLeftOut] : [],
    }
  })
}

function findSkillFolder(path: string, documents: ReadonlyMap<string, unknown>): string | undefined {
  for (let folder = posix.dirname(path); ; folder = posix.dirname(folder)) {
    if (documents.has(folder)) return folder
    if (folder === '.') return undefined
  }
}
