import { setImmediate } from 'node:timers/promises'
import { compareFiles, type FileDiff, type Security, type SkillDiff } from '@skillstead/protocol'
import { subtractAccess } from '@skillstead/scanner'
import { formatPatch, structuredPatch, type StructuredPatch } from 'diff'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { Operation } from '../../kernel/operation-input.ts'
import { getBlob } from '../../storage/read-blobs.ts'
import { getSkill } from './find-skill.ts'
import { readAccessOfMany, readScansOfMany, unreadAccess } from '../versions/inspection.ts'
import { getVersion } from './read-skill.ts'
import { refuseRecalled } from '../versions/recalls.ts'
import { showChange } from '../versions/version-changes.ts'
import { readFileRows, refuseQuarantined } from '../versions/version-files.ts'
import type { FileRow } from '../versions/stored-version.ts'

/** Maximum characters of the patches in a response; files beyond this limit have no patch. */
const patchCharactersMax = 2 * 1024 * 1024
/** Maximum bytes compared for one response. */
const diffBytesMax = 8 * 1024 * 1024

/** GET /skills/<name>/diff: the files that differ between two versions, and what the newer version adds. */
export const diffSkill: Operation<'diffSkill', StorageContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  const from = await getVersion(context, skill, input.from)
  const to = await getVersion(context, skill, input.to)
  const { read } = context.database
  for (const version of [from, to]) {
    refuseRecalled(skill, version, input.allowRecalled)
    await refuseQuarantined(read, skill, version)
  }
  const ids = [from.id, to.id]
  const [access, scans] = [await readAccessOfMany(read, ids), await readScansOfMany(read, ids)]
  const [before, after] = [access.get(from.id) ?? unreadAccess, access.get(to.id) ?? unreadAccess]
  return {
    skill: { id: skill.id, fullName: skill.full_name },
    from: from.version,
    to: to.version,
    files: await diffFiles(context, await readFileRows(read, from.id), await readFileRows(read, to.id)),
    access: { added: subtractAccess(after, before), removed: subtractAccess(before, after) },
    security: { from: toDiffVerdict(scans.get(from.id)), to: toDiffVerdict(scans.get(to.id)) },
    change: await showChange(read, { from, to }),
  }
}

function toDiffVerdict(scan: Security | undefined): SkillDiff['security']['from'] {
  return scan ? { score: scan.score, verdict: scan.verdict } : null
}

/** How files differ; `readNew` reads a newer file. Yields after each file: other requests wait for at most one file. */
export async function diffFiles(
  { database }: StorageContext,
  from: readonly FileRow[],
  to: readonly FileRow[],
  readNew: (digest: string) => Promise<Uint8Array> = (digest) => getBlob(database, digest),
) {
  const files: FileDiff[] = []
  let left = { characters: patchCharactersMax, bytes: diffBytesMax }
  for (const { path, status, rows } of findChangedFiles(from, to)) {
    const shown = { path, status, ...findModeChange(...rows) }
    const size = Math.max(...rows.map((row) => row?.size ?? 0))
    const bytes = left.bytes - size * 2
    if (size > comparedBytesMax || bytes < 0 || left.characters <= 0) {
      files.push(omitFile(shown))
      continue
    }
    const [before, after] = await Promise.all([
      rows[0] && getBlob(database, rows[0].digest),
      rows[1] && readNew(rows[1].digest),
    ])
    const file = { ...shown, ...diffFile({ ...shown, from: before, to: after }) }
    const characters = left.characters - (file.diff?.length ?? 0)
    files.push(characters < 0 ? omitFile(shown) : file)
    left = { characters, bytes }
    await setImmediate()
  }
  return files
}

function findChangedFiles(from: readonly FileRow[], to: readonly FileRow[]) {
  const [before, after] = [from, to].map((rows) => new Map(rows.map((row) => [row.path, row])))
  const paths = [...new Set([...before!.keys(), ...after!.keys()])].toSorted((a, b) =>
    compareFiles({ path: a }, { path: b }),
  )
  return paths.flatMap((path) => {
    const rows = [before!.get(path), after!.get(path)] as const
    if (rows[0]?.digest === rows[1]?.digest && rows[0]?.executable === rows[1]?.executable) return []
    return [{ path, status: !rows[0] ? 'added' : !rows[1] ? 'removed' : 'changed', rows } as const]
  })
}

/** Whether the newer file is executable, if this differs from the older file. */
function findModeChange(from: FileRow | undefined, to: FileRow | undefined): Pick<FileDiff, 'executable'> {
  const { executable = false } = to ?? {}
  return to && executable !== (from?.executable ?? false) ? { executable } : {}
}

/** Maximum size of compared files: comparing larger files would block the event loop. */
const comparedBytesMax = 512 * 1024
const comparedLinesMax = 10_000
/** Maximum differing lines of a shortest diff, which takes quadratic time in the differing lines. */
const editsMax = 500
const contextLines = 3

/** The patch of one file in git's format. Takes bounded time for any files. */
export function diffFile({
  path,
  from,
  to,
  executable,
}: {
  path: string
  from: Uint8Array | undefined
  to: Uint8Array | undefined
  /** Whether the newer file is executable, if this differs from the older file. */
  executable?: boolean | undefined
}): FileDiff {
  const status = from === undefined ? 'added' : to === undefined ? 'removed' : 'changed'
  const file = { path, status } as const
  const [before, after] = [from && decodeDiffText(from), to && decodeDiffText(to)]
  if (before === null || after === null) return { ...file, binary: true, diff: null, omitted: 'binary' }
  const texts = [before ?? '', after ?? ''] as const
  if (texts.some(isTooLargeToCompare)) return { ...file, binary: false, diff: null, omitted: 'too large' }
  return {
    ...file,
    binary: false,
    diff: endNames(path, formatPatch({ ...toGitPatch(path, status, ...texts), ...toModes(executable) })),
  }
}

function toModes(executable: boolean | undefined): Pick<StructuredPatch, 'oldMode' | 'newMode'> {
  const [plain, program] = ['100644', '100755']
  if (executable === undefined) return {}
  return executable ? { oldMode: plain, newMode: program } : { oldMode: program, newMode: plain }
}

function omitFile(file: Pick<FileDiff, 'path' | 'status' | 'executable'>): FileDiff {
  return { ...file, binary: false, diff: null, omitted: 'too large' }
}

/** Null for binary content (a NUL byte, or invalid UTF-8). A byte order mark stays, since it is part of the file. */
function decodeDiffText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

function isTooLargeToCompare(text: string): boolean {
  if (text.length > comparedBytesMax) return true
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
    if (++lines > comparedLinesMax) return true
  return false
}

function toGitPatch(path: string, status: FileDiff['status'], before: string, after: string): StructuredPatch {
  const names = {
    old: status === 'added' ? '/dev/null' : `a/${path}`,
    new: status === 'removed' ? '/dev/null' : `b/${path}`,
  }
  // If one side is empty, only one diff exists and takes no search, so it needs no limit.
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

/** Ends file names that have a space with a tab, as git does: otherwise `patch` would read only the first word. */
function endNames(path: string, patch: string): string {
  if (!path.includes(' ')) return patch
  return patch.replace(`\n--- a/${path}\n`, endName).replace(`\n+++ b/${path}\n`, endName)
}

function endName(line: string): string {
  return `${line.slice(0, -1)}\t\n`
}

/** A hunk that removes all old lines and adds all new ones, for texts with little in common. */
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
