import type { ArchiveFile } from '@skillstead/skill-format/archives'
import type { Warning } from '@skillstead/protocol'

/** A version in a skill's history, oldest first. */
interface HistoryVersion {
  readonly skillMd: string
  readonly version?: string
  /** Milliseconds since 1970. */
  readonly publishedAt?: number
}

/** A skill as a source holds it, before it has its name in the registry. */
export interface SkillRecord {
  /** How the source calls it, for messages. */
  readonly id: string
  /** What the source says of the author; undefined where only the operator can. */
  readonly owner?: string
  /** The name as its author wrote it; undefined where the folder must serve. */
  readonly name?: string
  /** The path of its SKILL.md in the source, `/`-separated. */
  readonly path: string
  readonly license?: string
  readonly repository?: string
  readonly history: readonly HistoryVersion[]
  readonly skillMd: string
  readonly files: readonly ArchiveFile[]
  /** Files that the source names but does not hold. */
  readonly filesMissing: number
  /** About what was left out of it. */
  readonly warnings?: readonly Warning[]
}

/** Something in a source that is no skill at all. */
export interface Unreadable {
  readonly id: string
  readonly reason: string
}

export type SourceItem = SkillRecord | Unreadable

export function isUnreadable(item: object): item is Unreadable {
  return 'reason' in item
}

/** What is read, piece by piece; `share` of it has been read, for a progress bar. */
export interface Source {
  readonly items: AsyncIterable<SourceItem>
  share(): number
}

/** The text of bytes that claim to be UTF-8: what is not becomes the replacement character. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
