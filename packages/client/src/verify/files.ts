import { cutList, toManifest, type ManifestFile } from '@skillstead/protocol'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { toDigest } from './bytes.ts'
import { VerificationError, type VerifiedPart } from './verification-error.ts'

/** A file of a version; the path is relative to SKILL.md. */
export interface ContentFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** Whether the mode of the file makes it executable. Undefined if the file has no mode, as on Windows. */
  readonly executable?: boolean | undefined
}

/**
 * The digest of a version with these files: SHA-256 over a line `<digest> <size> <path>` per file, with `+x` after the
 * size of an executable file. SKILL.md is never executable.
 *
 * @throws {VerificationError} for invalid paths.
 */
export function toContentDigest(files: readonly ContentFile[]): string {
  return toListDigest(files.map(toManifestFile), 'content')
}

/** Like {@link toContentDigest}, for a list of files. `part`: the part that the error for an invalid path names. */
export function toListDigest(files: readonly ManifestFile[], part: VerifiedPart): string {
  // A path with a line break would be two files in the digest, but one file when unpacked.
  const wrong = files.find(({ path }) => /\p{Cc}/u.test(path) || !path.isWellFormed())
  if (wrong) throw new VerificationError(part, `The path ${JSON.stringify(wrong.path)} is not valid in a version.`)
  return toDigest(utf8ToBytes(toManifest(files)))
}

/**
 * Verifies that these files are the version with this digest. `listed` are the files of the version, if known.
 *
 * @throws {VerificationError} that names altered, missing and additional files, if `listed` is known.
 */
export function verifyFiles(files: readonly ContentFile[], digest: string, listed: readonly ManifestFile[] = []): void {
  // A file without a mode gets the mode in the list, which the digest covers too.
  const modes = new Map(listed.map(({ path, executable = false }) => [path, executable]))
  const content = files.map((file) => ({ ...file, executable: file.executable ?? modes.get(file.path) }))
  const actual = content.map(toManifestFile)
  const actualDigest = toListDigest(actual, 'content')
  if (actualDigest === digest) return
  const differences = listed.length === 0 ? [] : listDifferences(content, listed)
  const sentence = `The content has the digest ${actualDigest}, not ${digest}`
  throw new VerificationError('content', [sentence, differences.join(', ')].filter(Boolean).join(': ') + '.')
}

const differencesMax = 10

/** How a file differs from the file with this digest: only by CRLF line ends, or in another way. */
export function describeAlteration(bytes: Uint8Array, digest: string): string {
  const withLineFeeds = bytes.filter((byte, i) => byte !== 0x0d || bytes[i + 1] !== 0x0a)
  const isSame = toDigest(withLineFeeds) === digest
  return isSame ? 'has CRLF line ends in place of LF, as git with core.autocrlf writes them' : 'was altered'
}

function listDifferences(files: readonly ContentFile[], listed: readonly ManifestFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const differences: string[] = []
  for (const { path, digest, executable = false } of listed) {
    const file = byPath.get(path)
    if (!file) differences.push(`${path} is missing`)
    else if (toDigest(file.bytes) !== digest) differences.push(`${path} ${describeAlteration(file.bytes, digest)}`)
    else if (toManifestFile(file).executable !== executable)
      differences.push(`${path} is ${executable ? 'not ' : ''}executable`)
    byPath.delete(path)
  }
  for (const path of byPath.keys()) differences.push(`${path} does not belong to it`)
  const { shown, more } = cutList(differences, differencesMax)
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])]
}

function toManifestFile({ path, bytes, executable = false }: ContentFile): ManifestFile {
  return { path, size: bytes.length, digest: toDigest(bytes), executable: executable && path !== 'SKILL.md' }
}
