import { setImmediate } from 'node:timers/promises'
import { compareFiles, type FileDiff, type Security, type SkillDiff } from '@skillstead/protocol'
import { subtractAccess } from '@skillstead/scanner'
import { readAccessOfMany, unread } from './stored-access.ts'
import { getBlob } from '../storage/blobs.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { readScansOfMany } from './stored-scans.ts'
import { readFiles, type FileRow } from './version-files.ts'
import { getSkill } from './find-skill.ts'
import { refuseQuarantined } from './quarantined.ts'
import { getVersion } from './read-skill.ts'
import { comparedBytesMax, diffFile, omitFile } from './diff-file.ts'

/** Characters of all patches in a response. Further files are listed without a patch. */
const patchCharactersMax = 2 * 1024 * 1024
/** Bytes read and compared for one response. */
const readBytesMax = 8 * 1024 * 1024

/**
 * GET /skills/<name>/diff: the files that differ between two versions, yanked or not, and what the newer one accesses.
 */
export async function diffSkill(
  context: CatalogueContext,
  input: { name: string; from: string; to: string },
  caller: Caller,
): Promise<SkillDiff> {
  const skill = await getSkill(context, input.name, caller)
  const from = await getVersion(context, skill, input.from)
  const to = await getVersion(context, skill, input.to)
  const { read } = context.database
  for (const version of [from, to]) await refuseQuarantined(read, skill, version)
  const ids = [from.id, to.id]
  const [access, scans] = [await readAccessOfMany(read, ids), await readScansOfMany(read, ids)]
  const [before, after] = [access.get(from.id) ?? unread, access.get(to.id) ?? unread]
  return {
    skill: { id: skill.id, fullName: skill.full_name },
    from: from.version,
    to: to.version,
    files: await diffFiles(context, await readFiles(read, from.id), await readFiles(read, to.id)),
    access: { added: subtractAccess(after, before), removed: subtractAccess(before, after) },
    security: { from: toVerdict(scans.get(from.id)), to: toVerdict(scans.get(to.id)) },
  }
}

function toVerdict(scan: Security | undefined): SkillDiff['security']['from'] {
  return scan ? { score: scan.score, verdict: scan.verdict } : null
}

/** A file that differs, by its rows in both versions. */
interface Change {
  readonly path: string
  readonly status: FileDiff['status']
  readonly rows: readonly [from: FileRow | undefined, to: FileRow | undefined]
}

/** Pauses after each file, so that other requests wait for one file at most. */
async function diffFiles(
  context: CatalogueContext,
  from: readonly FileRow[],
  to: readonly FileRow[],
): Promise<FileDiff[]> {
  const files: FileDiff[] = []
  let left = { characters: patchCharactersMax, bytes: readBytesMax }
  for (const { path, status, rows } of findChanges(from, to)) {
    const size = Math.max(...rows.map((row) => row?.size ?? 0))
    const bytes = left.bytes - size * 2
    if (size > comparedBytesMax || bytes < 0 || left.characters <= 0) {
      files.push(omitFile(path, status))
      continue
    }
    const [before, after] = await Promise.all(rows.map((row) => row && getBlob(context.database.read, row.digest)))
    const file = diffFile({ path, from: before, to: after })
    const characters = left.characters - (file.diff?.length ?? 0)
    files.push(characters < 0 ? omitFile(path, status) : file)
    left = { characters, bytes }
    await setImmediate()
  }
  return files
}

function findChanges(from: readonly FileRow[], to: readonly FileRow[]): Change[] {
  const [before, after] = [from, to].map((rows) => new Map(rows.map((row) => [row.path, row])))
  const paths = [...new Set([...before!.keys(), ...after!.keys()])].toSorted((a, b) =>
    compareFiles({ path: a }, { path: b }),
  )
  return paths.flatMap((path) => {
    const rows = [before!.get(path), after!.get(path)] as const
    if (rows[0]?.digest === rows[1]?.digest) return []
    return [{ path, status: !rows[0] ? 'added' : !rows[1] ? 'removed' : 'changed', rows }]
  })
}
