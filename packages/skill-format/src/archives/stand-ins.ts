import { posix } from 'node:path'
import type { PathReason, Warning } from '@skillstead/protocol'
import type { ArchiveFile } from './entry-options.ts'
import { isForeignMcpJson } from './mcp-json.ts'

/** Maximum bytes of a stand-in: Git LFS pointers have about 130, targets of links no more than a path may have. */
const standInBytesMax = 1024
/** The first line of a Git LFS pointer (Git LFS Specification, "The Pointer"). */
const pointerPattern = /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\/v\d/
/** A relative path that begins with dots, or has a folder and no space, without a line end. */
const linkPattern = /^(?:\.{1,2}\/)+[^\n\r\0]+$|^[\p{L}\p{N}_.-]+(?:\/[\p{L}\p{N}_.-]+)+$/u

/**
 * What a file holds in place of its content, as a sentence: a Git LFS pointer, or the target of a symbolic link, which a
 * checkout without links writes as a file. `paths` are those of the skill. Undefined for other files.
 */
export function describeStandIn(
  { path, bytes }: Pick<ArchiveFile, 'path' | 'bytes'>,
  paths: ReadonlySet<string>,
): string | undefined {
  if (bytes.length === 0 || bytes.length > standInBytesMax) return undefined
  const text = Buffer.from(bytes).toString()
  if (pointerPattern.test(text)) return 'The file is a Git LFS pointer. Run `git lfs pull` to get its content.'
  if (!linkPattern.test(text) && !isPathOfAnother(text, path, paths)) return undefined
  return `The file has only the path '${text}', as a checkout without symbolic links writes a link to it.`
}

/** Whether a text is the path of another file of the skill, relative to the folder of `path`. */
function isPathOfAnother(text: string, path: string, paths: ReadonlySet<string>): boolean {
  const target = /^\S+$/.test(text) ? posix.join(posix.dirname(path), text.normalize('NFC')) : path
  return target !== path && paths.has(target)
}

/** The files that stand for other content, and what they hold. */
export function listStandIns(files: readonly ArchiveFile[]): PathReason[] {
  const paths = new Set(['SKILL.md', ...files.map(({ path }) => path)])
  return files.flatMap((file) => {
    const reason = describeStandIn(file, paths)
    return reason === undefined ? [] : [{ path: file.path, reason }]
  })
}

/** A warning for each file that stands for other content, and for an `mcp.json` in another format. */
export function warnOfFiles(files: readonly ArchiveFile[]): Warning[] {
  const standIns = listStandIns(files).map(({ path, reason }) => {
    return { code: 'file_stands_in', message: `${path}: ${reason}` }
  })
  if (!files.some(isForeignMcpJson)) return standIns
  const message = 'mcp.json has no $schema of Agent Plugins, so no client and no --with-mcp starts its servers.'
  return [...standIns, { code: 'mcp_without_schema', message }]
}
