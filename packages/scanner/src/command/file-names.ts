import { join, relative, sep } from 'node:path'
import type { Sample } from './sample.ts'

/**
 * The path of a file of a skill, relative to the working directory, with `/`. Undefined if it is not a file of its own,
 * but a part of an archive, a record or a stream.
 */
export function toFilePath({ at }: Sample, path: string): string | undefined {
  if ('container' in at || path.includes('!/')) return undefined
  const file = relative('', join(at.folder, path === 'SKILL.md' ? at.skillFile : path))
  return sep === '/' ? file : file.replaceAll(sep, '/')
}

/** The file that contains a file of a skill: the archive in it, or the archive of the whole skill. */
export function toContainerPath(sample: Sample, path: string): string {
  const { at } = sample
  return 'container' in at ? relative('', at.container) : toFilePath(sample, path.slice(0, path.indexOf('!/')))!
}
