import type { ArchiveFile } from './entry-options.ts'

/**
 * Whether a file may be run as a program: by its mode or, if the source has no modes, by whether the file begins with
 * `#!`. SKILL.md is a document and never a program.
 */
export function isExecutable({ path, bytes, executable }: ArchiveFile): boolean {
  if (path === 'SKILL.md') return false
  return executable ?? (bytes[0] === 0x23 && bytes[1] === 0x21)
}

/**
 * A file of a publish request. Omits the field `executable` if the beginning of the file (`#!`) implies its value,
 * because older nodes refuse the field.
 */
export function toPublishFile(file: ArchiveFile) {
  const { path, bytes } = file
  const executable = isExecutable(file)
  return {
    path,
    content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
    encoding: 'base64' as const,
    ...(executable !== isExecutable({ path, bytes }) && { executable }),
  }
}

/** Whether a Unix mode lets the owner, the group or other users run the file. */
export function isExecutableMode(mode: number): boolean {
  return (mode & 0o111) !== 0
}

/**
 * The field `executable` of a file in a folder, from its mode. Absent on Windows, whose file systems have no modes:
 * Node.js derives them from the file name.
 */
export function readFileMode({ mode }: { readonly mode: number }): { readonly executable?: boolean } {
  return process.platform === 'win32' ? {} : { executable: isExecutableMode(mode) }
}
