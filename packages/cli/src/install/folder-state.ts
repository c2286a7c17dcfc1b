import { readErrorCode } from '@skillstead/protocol'
import { existsSync, lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { toDigest } from '@skillstead/skill-format/archives'
import { describeAlteration, toContentDigest, type ContentFile } from '@skillstead/client/verify'
import { isJunk, readContentAt } from '../verify/content.ts'

/** The content of a target folder. */
export type FolderState =
  | { readonly kind: 'missing' }
  | { readonly kind: 'version'; readonly digest: string; readonly files: readonly ContentFile[] }
  /** Content that is not a version of a skill, with the reason. */
  | { readonly kind: 'other'; readonly reason: string }

/**
 * Reads a whole folder and computes its digest. Files of file managers are ignored, unless the folder with them matches
 * one of the `expected` digests.
 */
export async function readFolderState(path: string, expected: readonly string[]): Promise<FolderState> {
  const stats = findStats(path)
  if (!stats) return { kind: 'missing' }
  if (stats.isSymbolicLink()) return { kind: 'other', reason: 'it is a symbolic link' }
  if (!stats.isDirectory()) return { kind: 'other', reason: 'it is a file' }
  if (existsSync(join(path, '.git'))) return { kind: 'other', reason: 'it is a git repository' }
  try {
    const state = toVersionState(await readContentAt(path))
    if (expected.length === 0 || expected.includes(state.digest)) return state
    const whole = toVersionState(await readContentAt(path, { whole: true }))
    return expected.includes(whole.digest) ? whole : state
  } catch (error) {
    return { kind: 'other', reason: (error as Error).message.replace(/\.$/, '') }
  }
}

function toVersionState(files: readonly ContentFile[]) {
  return { kind: 'version', digest: toContentDigest(files), files } as const
}

/** The digest that the folder must still have when it is replaced; undefined for content that is not a version. */
export function toSeen(state: FolderState): string | null | undefined {
  if (state.kind === 'missing') return null
  return state.kind === 'version' ? state.digest : undefined
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
  const more = edits.length - editsShownMax
  return [...edits.slice(0, editsShownMax), ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

const editsShownMax = 5

function listEdits(files: readonly ContentFile[], published: readonly ContentFile[]): string[] {
  const found = new Map(files.map(({ path, bytes }) => [path, bytes]))
  const paths = new Set(published.map(({ path }) => path))
  return [
    ...published.flatMap(({ path, bytes }) => {
      const there = found.get(path)
      // File managers' files are not expected.
      if (!there) return isJunk(path) ? [] : [`${path} is missing`]
      if (Buffer.from(there).equals(bytes)) return []
      return [`${path} ${describeAlteration(there, toDigest(bytes))}`]
    }),
    ...files.filter(({ path }) => !paths.has(path)).map(({ path }) => `${path} was added`),
  ]
}
