import {
  compareFiles,
  cutList,
  type FieldError,
  limits,
  type PathReason,
  type PublishSkillInput,
  RegistryError,
  toManifest,
} from '@skillstead/protocol'
import {
  ArchiveError,
  type ArchiveFile,
  checkPaths,
  decodeText,
  describeStandIn,
  findMcpProblems,
  findTextProblem,
  isExecutable,
  readArchive,
  selectListed,
  toDigest,
} from '@skillstead/skill-format/archives'
import { invalidField } from '../../kernel/field-errors.ts'
import { type Blob, createBlob } from '../../storage/blobs.ts'
import { toFileRow, type FileRow } from './stored-version.ts'

/** The package of a publish request, and the paths that were omitted from it or changed, with the reasons. */
export interface SubmittedPackage extends SkillPackage {
  readonly omitted: readonly PathReason[]
  readonly changed: readonly PathReason[]
}

/** The uploaded content of a version: SKILL.md and the other files. */
export interface SkillPackage {
  readonly skillMd: string
  readonly files: readonly PackageFile[]
}

export type PackageFile = ArchiveFile

/** A package ready to be stored: its manifest, the manifest's digest, and the contents by digest. */
export interface PackedContent {
  readonly digest: string
  readonly size: number
  readonly files: FileRow[]
  readonly blobs: Blob[]
  /** The uploaded bytes, in the order of the files. */
  readonly sources: readonly PackageFile[]
}

/**
 * The package of a publish request, from its JSON fields or its archive; undefined if the request has only metadata.
 * Throws `invalid_skill` with every path or size at fault, and `invalid_request` for invalid text or base64.
 */
export async function readSubmittedPackage(input: PublishSkillInput): Promise<SubmittedPackage | undefined> {
  if (input.archive) return readUploadedArchive(input.archive)
  if (input.skillMd === undefined) {
    if (input.files)
      throw invalidField('skillMd', 'is needed where files are given: a version is SKILL.md and its files.')
    return undefined
  }
  if (!input.skillMd.isWellFormed()) throw invalidField('skillMd', 'must be well-formed Unicode.')
  refuseTooManyFiles(input.files?.length ?? 0)
  const files = (input.files ?? []).map((file, i) => ({
    path: file.path,
    bytes: decodeFile(file, i),
    executable: file.executable,
  }))
  const content = { skillMd: input.skillMd, ...selectListed(files) }
  checkPackage(content)
  return content
}

/** Throws `invalid_skill` for a package that exceeds the limits or breaks the path rules; names each file at fault. */
export function checkPackage({ skillMd, files }: SkillPackage): void {
  refuseTooManyFiles(files.length)
  const wrong = [...checkPaths(files), ...findMcpProblems(files)]
  const problems: FieldError[] = wrong.map(({ path, message }) => ({ path, message }))
  const document = Buffer.from(skillMd)
  const skillBytes = document.length
  const paths = new Set(files.map(({ path }) => path))
  const problem = findTextProblem(document) ?? describeStandIn({ path: 'SKILL.md', bytes: document }, paths)
  if (problem !== undefined) problems.push({ path: 'SKILL.md', message: problem })
  if (skillBytes > limits.fileBytesMax) problems.push({ path: 'SKILL.md', message: toSizeProblem(limits.fileBytesMax) })
  for (const { path, bytes } of files) {
    if (bytes.length > limits.fileBytesMax) problems.push({ path, message: toSizeProblem(limits.fileBytesMax) })
  }
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, skillBytes)
  if (size > limits.versionBytesMax) problems.push({ path: 'files', message: toSizeProblem(limits.versionBytesMax) })
  if (problems.length > 0) throw invalidSkill(problems)
}

/** Computes digests and compresses the files. Called before any transaction begins. */
export async function packContent({ skillMd, files }: SkillPackage): Promise<PackedContent> {
  const given: PackageFile[] = [{ path: 'SKILL.md', bytes: Buffer.from(skillMd) }, ...files]
  const all = given.map((file) => ({ ...file, executable: isExecutable(file) })).toSorted(compareFiles)
  const blobs = await Promise.all(all.map(({ bytes }) => createBlob(bytes)))
  const rows = blobs.map(({ size, digest }, i) => toFileRow({ ...all[i]!, size, digest }))
  const size = rows.reduce((sum, row) => sum + row.size, 0)
  return { digest: toDigest(toManifest(rows)), size, files: rows, blobs, sources: all }
}

async function readUploadedArchive(archive: NonNullable<PublishSkillInput['archive']>): Promise<SubmittedPackage> {
  try {
    const { skillMd, ...selected } = await readArchive(
      archive.body,
      archive.contentType === 'application/zip' ? 'zip' : 'tar.gz',
    )
    const problem = findTextProblem(skillMd)
    if (problem !== undefined) throw invalidSkill([{ path: 'SKILL.md', message: problem }])
    const content = { skillMd: decodeText(skillMd), ...selected }
    checkPackage(content)
    return content
  } catch (error) {
    if (error instanceof ArchiveError) throw invalidSkill(error.problems)
    throw error
  }
}

function decodeFile(file: { content: string; encoding: 'utf8' | 'base64' }, index: number): Uint8Array {
  const path = `files.${index}.content`
  if (file.encoding === 'utf8') {
    if (!file.content.isWellFormed()) throw invalidField(path, 'must be well-formed Unicode.')
    return Buffer.from(file.content)
  }
  const bytes = Buffer.from(file.content, 'base64')
  // Buffer ignores invalid base64, so the input is compared with the encoding of the result.
  if (bytes.toString('base64').replace(/=+$/, '') !== file.content.replace(/=+$/, ''))
    throw invalidField(path, 'must be base64.')
  return bytes
}

/** Checks the number of files first: naming each file of a hostile list would make a long error response. */
function refuseTooManyFiles(otherFiles: number): void {
  const count = otherFiles + 1
  if (count <= limits.versionFilesMax) return
  const message = `has ${count} files with SKILL.md; a version holds at most ${limits.versionFilesMax}.`
  throw invalidSkill([{ path: 'files', message }])
}

function toSizeProblem(bytesMax: number): string {
  return `is larger than ${bytesMax / 1024 / 1024} MiB.`
}

function invalidSkill(errors: readonly FieldError[]): RegistryError {
  const { shown, more } = cutList(errors, 1)
  // The path of a problem of the whole package is empty.
  const sentences = shown.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const detail = [...sentences, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ') || 'The package is not valid.'
  return new RegistryError('invalid_skill', detail, { errors })
}
