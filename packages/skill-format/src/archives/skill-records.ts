import { isUtf8 } from 'node:buffer'
import { isRegistryError, type PathReason } from '@skillstead/protocol'
import type { ArchiveFile } from './entry-options.ts'
import type { SelectedSkill, SourceEntry } from './select-files.ts'
import { findSizeProblem, findSkillProblem, readSelectedFiles } from './selected-skill.ts'

/** A version in the history of a skill. A history begins with the oldest version. */
interface HistoryVersion {
  readonly skillMd: string
  readonly version?: string
  /** Milliseconds since 1970. */
  readonly publishedAt?: number
}

/** A skill as read from a source, before it gets its name in the registry. */
export interface SkillRecord {
  /** Identifies the skill in messages. */
  readonly id: string
  /** The author as named by the source; undefined if only the operator can name an author. */
  readonly owner?: string
  /** The name as its author wrote it; undefined if the folder name is to be used. */
  readonly name?: string
  /** The path of the skill's SKILL.md in the source, `/`-separated. */
  readonly path: string
  readonly license?: string
  readonly repository?: string
  readonly history: readonly HistoryVersion[]
  readonly skillMd: string
  readonly files: readonly ArchiveFile[]
  /** Number of files that the source names without their content. */
  readonly filesMissing: number
  /** Entries of the skill's folder that were omitted or changed; paths are relative to SKILL.md. */
  readonly omitted?: readonly PathReason[]
  readonly changed?: readonly PathReason[]
}

/** An item of a source that could not be read as a skill. */
export interface Unreadable {
  readonly id: string
  readonly reason: string
}

/** A skill of a source, or the reason why it could not be read. */
export type SourceItem = SkillRecord | Unreadable

/** Whether an item of a source could not be read. */
export function isUnreadable(item: object): item is Unreadable {
  return 'reason' in item
}

/** The items of a source. */
export interface Source {
  readonly items: AsyncIterable<SourceItem>
  /** The fraction read so far, 0 to 1, for a progress bar. */
  share(): number
}

/** Reads a skill of a folder or archive. A file that cannot be read concerns this skill only. */
export async function readSourceItem<Entry extends SourceEntry & { readonly size?: number }>(
  skill: SelectedSkill<Entry>,
  { id, path }: Pick<SkillRecord, 'id' | 'path'>,
  read: (entries: readonly Entry[]) => readonly Uint8Array[] | Promise<readonly Uint8Array[]>,
): Promise<SourceItem> {
  const problem = findSkillProblem(skill) ?? findSizeProblem(skill)
  if (problem !== undefined) return { id, reason: problem }
  try {
    const [{ bytes }, ...files] = await readSelectedFiles(skill, read)
    const reason = findTextProblem(bytes)
    if (reason !== undefined) return { id, reason }
    const { omitted, changed } = skill
    return { id, path, history: [], skillMd: decodeText(bytes), files, filesMissing: 0, omitted, changed }
  } catch (error) {
    if (!isRegistryError(error)) throw error
    return { id, reason: error.message }
  }
}

/** Why bytes cannot be the text of SKILL.md, as a sentence; undefined if they can. */
export function findTextProblem(bytes: Uint8Array): string | undefined {
  // UTF-16 has a NUL for each ASCII character, and a mark that is invalid in UTF-8.
  const isMarked = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (isMarked || bytes.includes(0)) return 'SKILL.md is in UTF-16, or contains NUL. Save it as UTF-8.'
  return isUtf8(bytes) ? undefined : 'SKILL.md is not valid UTF-8. Save it as UTF-8.'
}

/** Decodes UTF-8; invalid bytes become the replacement character. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
