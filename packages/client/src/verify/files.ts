import { toManifest, type ManifestFile } from '@skillstead/protocol'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { toDigest } from './bytes.ts'
import { VerificationError, type VerifiedPart } from './verification-error.ts'

/** A file of a version; the path is relative to SKILL.md. */
export interface ContentFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/**
 * The digest of a version that has these files: SHA-256 over a line `<digest> <size> <path>` for each.
 *
 * @throws {VerificationError} for paths that no version has.
 */
export function toContentDigest(files: readonly ContentFile[]): string {
  return toListDigest(files.map(toListed), 'content')
}

/** As {@link toContentDigest}, of a list of files, which is `part` of something. */
export function toListDigest(files: readonly ManifestFile[], part: VerifiedPart): string {
  // A path of two lines would be two files to the digest, and one to whoever unpacks it.
  const wrong = files.find(({ path }) => /\p{Cc}/u.test(path) || !path.isWellFormed())
  if (wrong) throw new VerificationError(part, `No version has the path ${JSON.stringify(wrong.path)}.`)
  return toDigest(utf8ToBytes(toManifest(files)))
}

/**
 * Checks that these files are the version of a digest. `listed` are the files that it has, where they are known.
 *
 * @throws {VerificationError} that names the files which differ, are missing or too many, as far as they are known.
 */
export function verifyFiles(files: readonly ContentFile[], digest: string, listed: readonly ManifestFile[] = []): void {
  const actual = files.map(toListed)
  const actualDigest = toListDigest(actual, 'content')
  if (actualDigest === digest) return
  const differences = listed.length === 0 ? [] : listDifferences(actual, listed)
  const sentence = `The content has the digest ${actualDigest} and not ${digest}`
  throw new VerificationError('content', [sentence, differences.join(', ')].filter(Boolean).join(': ') + '.')
}

const differencesMax = 10

function listDifferences(actual: readonly ManifestFile[], listed: readonly ManifestFile[]): string[] {
  const byPath = new Map(actual.map((file) => [file.path, file]))
  const differences: string[] = []
  for (const { path, digest } of listed) {
    const file = byPath.get(path)
    if (!file) differences.push(`${path} is missing`)
    else if (file.digest !== digest) differences.push(`${path} was altered`)
    byPath.delete(path)
  }
  for (const path of byPath.keys()) differences.push(`${path} does not belong to it`)
  const more = differences.length - differencesMax
  return more > 0 ? [...differences.slice(0, differencesMax), `and ${more} more`] : differences
}

function toListed({ path, bytes }: ContentFile): ManifestFile {
  return { path, size: bytes.length, digest: toDigest(bytes) }
}
