import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { verifyFiles, type ContentFile } from '@skillstead/client/verify'
import { limits } from '@skillstead/protocol'
import { homeFolder } from '../config.ts'
import type { Environment } from '../io.ts'
import { readPackage } from './package.ts'
import { writeWhole } from '../write-whole.ts'

/** The packages that were downloaded, by the digests of their versions. What it gives was checked just then. */
export interface PackageCache {
  /** The files of a version; undefined where they are not kept, or are no longer what they were. */
  find(digest: string): Promise<ContentFile[] | undefined>
  /** Keeps a package that was checked; as long as the process lives where it cannot be written, and then says why. */
  keep(digest: string, zip: Uint8Array): string | undefined
}

/** Where packages are kept; safe to delete at any time. */
export function cacheFolder(env: Environment): string {
  const folder =
    env['XDG_CACHE_HOME'] || (process.platform === 'win32' && env['LOCALAPPDATA']) || join(homeFolder(env), '.cache')
  return join(folder, 'skillstead')
}

/** The cache in a folder, which is made when something is kept. */
export function openCache(folder: string): PackageCache {
  const toFile = (digest: string): string => join(folder, 'sha256', `${digest.slice('sha256:'.length)}.zip`)
  const memory = new Map<string, Uint8Array>()
  return {
    async find(digest) {
      const unkept = memory.get(digest)
      if (unkept) return readPackage(unkept)
      const file = toFile(digest)
      if (!existsSync(file)) return undefined
      try {
        return await readKept(file, digest)
      } catch {
        // Damaged, or altered by somebody: it is fetched again.
        deleteQuietly(file)
        return undefined
      }
    },
    keep(digest, zip) {
      try {
        // Private skills lie there too.
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeWhole(toFile(digest), zip, 0o600)
        return undefined
      } catch (error) {
        memory.set(digest, zip)
        return (error as Error).message
      }
    },
  }
}

/** In a cache that may not be written it stays. */
function deleteQuietly(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {}
}

async function readKept(file: string, digest: string): Promise<ContentFile[]> {
  if (statSync(file).size > limits.archiveBytesMax) throw new Error('No package is as large.')
  const files = await readPackage(readFileSync(file))
  verifyFiles(files, digest)
  return files
}
