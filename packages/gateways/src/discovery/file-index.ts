import type { Caller } from '@skillstead/core'
import {
  getBlob,
  type CatalogueContext,
  countAndAnswer,
  type DiscoveryScope,
  openShare,
  countDownload,
  getSkillVersion,
  readFileRows,
  readFileRowsOfMany,
  toContentType,
} from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import type { FoundArtifact } from '../scopes/find-artifact.ts'
import { type Indexed, readIndexed } from '../scopes/indexed-skills.ts'

/** An index of skills and their files, version 0.1 of the discovery specification. */
interface FileIndex {
  readonly skills: readonly { readonly name: string; readonly description: string; readonly files: readonly string[] }[]
}

/** Maximum number of files in an index, which limits it to about 2 MB. Skills beyond it can be requested by name. */
const listedFilesMax = 20_000
/** Number of skills whose files are read at a time, before `listedFilesMax` is checked again. */
const batchSkills = 20

/** The index of a scope with the paths of all files. Throws `not_found` if the index would be empty. */
export function readFileIndex(context: CatalogueContext, scope: DiscoveryScope, caller: Caller): Promise<FileIndex> {
  return countAndAnswer(context, async () => {
    const indexed = await readIndexed(context, scope, caller)
    const skills: FileIndex['skills'][number][] = []
    let filesLeft = listedFilesMax
    for (let at = 0; at < indexed.length && filesLeft > 0; at += batchSkills) {
      for (const skill of await withFiles(context, indexed.slice(at, at + batchSkills))) {
        filesLeft -= skill.files.length
        if (filesLeft >= 0) skills.push(skill)
      }
    }
    if (skills.length > 0) return { skills }
    throw new RegistryError(
      'not_found',
      'The skills at this address have file names with `..` or too many files, which this index cannot list.',
    )
  })
}

async function withFiles(context: CatalogueContext, indexed: readonly Indexed[]): Promise<FileIndex['skills']> {
  const ids = indexed.map(({ offer }) => offer.id)
  const files = await readFileRowsOfMany(context.database.read, ids)
  return indexed
    .map(({ offer: { id, name, description } }) => {
      return { name, description, files: (files.get(id) ?? []).map(({ path }) => path) }
    })
    .filter((skill) => skill.files.every(isListable))
}

/** Whether an index may list a path: installers refuse a whole index because of one `..`, even inside a file name. */
function isListable(path: string): boolean {
  return !path.includes('..')
}

/** Finds a file that the index of {@link readFileIndex} lists. Only reading SKILL.md counts as a download. */
export function findIndexedFile(
  context: CatalogueContext,
  { scope, name, path }: { readonly scope: DiscoveryScope; readonly name: string; readonly path: string },
  caller: Caller,
): Promise<FoundArtifact> {
  return countAndAnswer(context, async () => {
    const { offer } = (await readIndexed(context, scope, caller, name))[0]!
    const reader = scope.of === 'share' ? (await openShare(context, scope.token)).holder : caller
    const wanted = { name: `${offer.owner}/${offer.name}`, version: offer.version }
    const { skill, version } = await getSkillVersion(context, wanted, reader)
    const { read } = context.database
    const file = (await readFileRows(read, version.id)).find((one) => one.path === path)
    if (!file) throw new RegistryError('not_found', 'This index does not list the file.')
    const etag = `"${file.digest}"`
    return {
      etag,
      bytes: file.size,
      read: (options) =>
        countAndAnswer(context, async () => {
          const body = await getBlob(context.database, file.digest)
          if (path === 'SKILL.md') countDownload(context, { skill, version }, reader, options)
          return { contentType: toContentType(path), body, etag, filename: path.slice(path.lastIndexOf('/') + 1) }
        }),
    }
  })
}
