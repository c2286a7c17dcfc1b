import type { FileDiff } from '@skillstead/protocol'
import { formatPatch, structuredPatch, type StructuredPatch } from 'diff'

/** One file in two versions; undefined on the side that lacks it. */
export interface FilePair {
  readonly path: string
  readonly from: Uint8Array | undefined
  readonly to: Uint8Array | undefined
}

/** Larger files are not compared: the comparison would block the event loop. */
export const comparedBytesMax = 512 * 1024
const comparedLinesMax = 10_000
/** The maximum number of differing lines for which the shortest diff is computed; its time is quadratic in them. */
const editsMax = 500
const contextLines = 3

/** The patch of one file in git's format. Takes bounded time for any files. */
export function diffFile({ path, from, to }: FilePair): FileDiff {
  const status = from === undefined ? 'added' : to === undefined ? 'removed' : 'changed'
  const file = { path, status } as const
  const [before, after] = [from && toText(from), to && toText(to)]
  if (before === null || after === null) return { ...file, binary: true, diff: null, omitted: 'binary' }
  const texts = [before ?? '', after ?? ''] as const
  if (texts.some(isTooLarge)) return { ...file, binary: false, diff: null, omitted: 'too large' }
  return { ...file, binary: false, diff: endNames(path, formatPatch(toPatch(path, status, ...texts))) }
}

/** The diff of a file that is too large to compare. */
export function omitFile(path: string, status: FileDiff['status']): FileDiff {
  return { path, status, binary: false, diff: null, omitted: 'too large' }
}

/** Null for binary content: a NUL byte, or invalid UTF-8. A byte order mark is kept, since it is part of the file. */
function toText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

function isTooLarge(text: string): boolean {
  if (text.length > comparedBytesMax) return true
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
    if (++lines > comparedLinesMax) return true
  return false
}

function toPatch(path: string, status: FileDiff['status'], before: string, after: string): StructuredPatch {
  const names = {
    old: status === 'added' ? '/dev/null' : `a/${path}`,
    new: status === 'removed' ? '/dev/null' : `b/${path}`,
  }
  // With one side empty there is only one diff, which is found at once.
  const isOneSided = before === '' || after === ''
  const options = { context: contextLines, ...(!isOneSided && { maxEditLength: editsMax }) }
  const found = structuredPatch(names.old, names.new, before, after, undefined, undefined, options)
  const hunks = found?.hunks ?? [toWholeHunk(before, after)]
  return {
    oldFileName: names.old,
    newFileName: names.new,
    oldHeader: undefined,
    newHeader: undefined,
    hunks,
    isGit: true,
    ...(status === 'added' && { isCreate: true }),
    ...(status === 'removed' && { isDelete: true }),
  }
}

/** Ends names that contain a space with a tab, as git does: `patch` would read only the first word otherwise. */
function endNames(path: string, patch: string): string {
  if (!path.includes(' ')) return patch
  return patch.replace(`\n--- a/${path}\n`, endName).replace(`\n+++ b/${path}\n`, endName)
}

function endName(line: string): string {
  return `${line.slice(0, -1)}\t\n`
}

/** For texts with little in common: removes all old lines and adds all new ones. */
function toWholeHunk(before: string, after: string): StructuredPatch['hunks'][number] {
  const [gone, come] = [structuredPatch('', '', before, '').hunks[0]!, structuredPatch('', '', '', after).hunks[0]!]
  return {
    oldStart: 1,
    oldLines: gone.oldLines,
    newStart: 1,
    newLines: come.newLines,
    lines: [...gone.lines, ...come.lines],
  }
}
