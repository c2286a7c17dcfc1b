import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { verifyFiles, type ContentFile } from '@skillstead/client/verify'
import { limits, attempt, toErrorText } from '@skillstead/protocol'
import { checkPaths } from '@skillstead/skill-format/archives'
import { writeWhole } from '../files/write-whole.ts'
import { readZipContent } from '../verify/content.ts'

/** The downloaded packages, by the digest of their version. Content is verified on every read. */
export interface PackageCache {
  /** The files of a version; undefined if they are not cached, or no longer match the digest. */
  find(digest: string): Promise<ContentFile[] | undefined>
  /** Caches a verified package. If the folder cannot be written, caches it in memory and returns the reason. */
  keep(digest: string, zip: Uint8Array): string | undefined
}

/** Opens the cache in a folder, which is created on the first write. */
export function openCache(folder: string): PackageCache {
  const toFile = (digest: string): string => join(folder, 'sha256', `${digest.slice('sha256:'.length)}.zip`)
  const memory = new Map<string, Uint8Array>()
  return {
    async find(digest) {
      const unkept = memory.get(digest)
      if (unkept) return unpackPackage(unkept)
      const file = toFile(digest)
      if (!existsSync(file)) return undefined
      try {
        return await readKept(file, digest)
      } catch {
        // The cached package is damaged or altered: download the package again. In a read-only cache the file stays.
        attempt(() => rmSync(file, { force: true }))
        return undefined
      }
    },
    keep(digest, zip) {
      try {
        // Private skills are cached as well, so only the user may read the folder.
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeWhole(toFile(digest), zip, 0o600)
        return undefined
      } catch (error) {
        memory.set(digest, zip)
        return toErrorText(error)
      }
    },
  }
}

async function readKept(file: string, digest: string): Promise<ContentFile[]> {
  const stats = statSync(file)
  // Reading a pipe that another user made would never end.
  if (!stats.isFile() || stats.size > limits.archiveBytesMax) throw new Error('The file is no package.')
  const files = await unpackPackage(readFileSync(file))
  verifyFiles(files, digest)
  return files
}

/**
 * Unpacks a package. Throws for a file that is not a zip or is too large, and for paths that lead out of the target
 * folder, that a file system cannot store, that would overwrite each other, or that git reserves.
 */
export async function unpackPackage(zip: Uint8Array): Promise<ContentFile[]> {
  const files = await readZipContent(zip)
  if (!files.some(({ path }) => path === 'SKILL.md')) throw new Error('The package contains no SKILL.md.')
  const others = files.filter(({ path }) => path !== 'SKILL.md')
  const [problem] = checkPaths(others.map(({ path, bytes }) => ({ path, size: bytes.length })))
  if (problem) throw new Error([problem.path, problem.message].filter(Boolean).join(': '))
  return files
}
