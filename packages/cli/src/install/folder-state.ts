import { cutList, readErrorCode, toErrorText } from '@skillstead/protocol'
import { existsSync, lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { isExecutable, toDigest } from '@skillstead/skill-format/archives'
import { describeAlteration, toContentDigest, type ContentFile } from '@skillstead/client/verify'
import { isJunk, readContentAt } from '../verify/content.ts'
import type { PackageCache } from './cache.ts'

/** The content of a target folder. */
export type FolderState =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'version'
      readonly digest: string
      /** The files as read: without `executable` where the file system has no modes. */
      readonly files: readonly ContentFile[]
    }
  /** Content that is not a version of a skill, with the reason. */
  | { readonly kind: 'other'; readonly reason: string }

/**
 * Reads a whole folder and computes its digest. Files of file managers are ignored, unless the folder with them matches
 * one of the `expected` digests. Where the file system has no modes, the digest is computed with the modes of an
 * expected version in the cache.
 */
export async function readFolderState(
  path: string,
  expected: readonly string[],
  cache?: Pick<PackageCache, 'find'>,
): Promise<FolderState> {
  const stats = findStats(path)
  if (!stats) return { kind: 'missing' }
  if (stats.isSymbolicLink()) return { kind: 'other', reason: 'it is a symbolic link' }
  if (!stats.isDirectory()) return { kind: 'other', reason: 'it is a file' }
  if (existsSync(join(path, '.git'))) return { kind: 'other', reason: 'it is a git repository' }
  try {
    const state = await toVersionState(await readContentAt(path), expected, cache)
    if (expected.length === 0 || expected.includes(state.digest)) return state
    const whole = await toVersionState(await readContentAt(path, { whole: true }), expected, cache)
    return expected.includes(whole.digest) ? whole : state
  } catch (error) {
    return { kind: 'other', reason: toErrorText(error).replace(/\.$/, '') }
  }
}

async function toVersionState(
  files: readonly ContentFile[],
  expected: readonly string[],
  cache: Pick<PackageCache, 'find'> | undefined,
) {
  const found = { kind: 'version', digest: toContentDigest(files), files } as const
  if (expected.includes(found.digest) || files.every(({ executable }) => executable !== undefined)) return found
  for (const digest of expected) {
    const published = (await cache?.find(digest)) ?? []
    const modes = new Map(published.map(({ path, executable }) => [path, executable]))
    const withModes = files.map((file) => ({ ...file, executable: modes.get(file.path) ?? isExecutable(file) }))
    if (toContentDigest(withModes) === digest) return { ...found, digest }
  }
  return found
}

/** The digest of the files as read, which must still match when the folder is replaced; undefined for other content. */
export function toSeen(state: FolderState): string | null | undefined {
  if (state.kind === 'missing') return null
  return state.kind === 'version' ? toContentDigest(state.files) : undefined
}

function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    // A parent of the path is a file; the command that writes there reports it.
    if (readErrorCode(error) === 'ENOTDIR') return undefined
    throw error
  }
}

/** How a folder differs from its version, as far as the published files are known; undefined if it does not differ. */
export function describeEdits(
  state: FolderState,
  digest: string,
  published: readonly ContentFile[] = [],
): string | undefined {
  if (state.kind === 'missing') return 'it is missing'
  if (state.kind === 'other') return state.reason
  if (state.digest === digest) return undefined
  const edits = published.length === 0 ? [] : listEdits(state.files, published)
  if (edits.length === 0) return 'its files differ from the version'
  const { shown, more } = cutList(edits, editsShownMax)
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

const editsShownMax = 5

function listEdits(files: readonly ContentFile[], published: readonly ContentFile[]): string[] {
  const found = new Map(files.map((file) => [file.path, file]))
  const paths = new Set(published.map(({ path }) => path))
  return [
    ...published.flatMap(({ path, bytes, executable = false }) => {
      const there = found.get(path)
      // Files of file managers may be missing.
      if (!there) return isJunk(path) ? [] : [`${path} is missing`]
      if (!Buffer.from(there.bytes).equals(bytes))
        return [`${path} ${describeAlteration(there.bytes, toDigest(bytes))}`]
      return (there.executable ?? executable) === executable ? [] : [`${path} is ${executable ? 'not ' : ''}executable`]
    }),
    ...files.filter(({ path }) => !paths.has(path)).map(({ path }) => `${path} was added`),
  ]
}
