import { join, relative, sep } from 'node:path'
import type { PathReason } from '@skillstead/protocol'
import { toVersionDigest, type ArchiveFile } from '@skillstead/skill-format/archives'
import type { ScanFile } from '../files/scan-file.ts'

/** A skill, or some of its files, to scan. */
export interface Sample {
  /** Identifies the sample in reports: the path of its SKILL.md, or the name of its record. */
  readonly id: string
  /** SKILL.md first, if there is one. */
  readonly files: readonly ScanFile[]
  /** The folder of the sample and the name of its SKILL.md; or the file, URL or stream that contains the sample. */
  readonly at: { readonly folder: string; readonly skillFile: string } | { readonly container: string }
  /** Entries of an archive that were omitted from the skill, or changed. */
  readonly omitted?: readonly PathReason[] | undefined
  readonly changed?: readonly PathReason[] | undefined
}

/** The location of a file of a sample. */
export interface FilePlace {
  /**
   * The path relative to the working directory, with `/` as the separator. For a file in an archive, a JSON Lines file,
   * a URL or a stream: that container.
   */
  readonly file: string
  /** The name of the file inside the container. */
  readonly inside?: string
}

/** Finds the location of a file of a sample. A path such as `a.zip!/b` is that of a file in an archive. */
export function locateInSample({ id, at }: Sample, path: string): FilePlace {
  const inside = `${id}!/${path}`
  if ('container' in at) return { file: isSampleUrl(at.container) ? at.container : relative('', at.container), inside }
  const [own = path] = path.split('!/', 1)
  const file = toSampleId(relative('', join(at.folder, own === 'SKILL.md' ? at.skillFile : own)))
  return own === path ? { file } : { file, inside }
}

/** Whether a location is a URL instead of a path. */
export function isSampleUrl(place: string): boolean {
  return /^https?:\/\//i.test(place)
}

/** A path with `/` as the separator, on every system. */
export function toSampleId(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/')
}

/** The digest of the files of a sample, computed like the digest of a version. */
export function toSkillDigest({ files }: Sample): string {
  const read = files.flatMap((file): ArchiveFile[] => {
    if ('unread' in file) return []
    return 'bytes' in file ? [file] : [{ path: file.path, bytes: Buffer.from(file.text) }]
  })
  return toVersionDigest(read)
}
