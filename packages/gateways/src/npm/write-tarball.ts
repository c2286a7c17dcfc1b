import { type ArchiveFile, toFoldedPath } from '@skillstead/skill-format/archives'
import type { Pack } from '../scopes/skill-archives.ts'
import { writeTarGzip } from '../scopes/tar-gzip.ts'

/**
 * Files at the root of a package that npm acts upon: the manifest, a list of dependencies to install, and the
 * definition of a native addon, which npm compiles by running commands. They are left out of the tarball, which has
 * only the generated manifest.
 */
const leftOut = new Set(['package.json', 'npm-shrinkwrap.json', 'binding.gyp'])

/** The date of every file in a tarball of npm. */
const mtime = new Date('1985-10-26T08:15:00Z')

/**
 * Writes the npm package of a version. Its bytes depend only on the name, the version and the files, so package.json
 * has no field that an owner can change later, such as the description.
 */
export async function writeTarball(
  pack: Pick<Pack, 'fullName' | 'version'>,
  files: readonly ArchiveFile[],
): Promise<Uint8Array<ArrayBuffer>> {
  const manifest = { name: `@${pack.fullName}`, version: pack.version, keywords: ['agent-skill'], gypfile: false }
  const own: ArchiveFile = { path: 'package.json', bytes: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`) }
  // Compared without case: on a file system that ignores case, a file or folder `Package.json` would overwrite the
  // manifest.
  const kept = files.filter(({ path }) => !leftOut.has(toFoldedPath(path.split('/')[0]!)))
  const sorted = kept.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return writeTarGzip(
    [own, ...sorted].map((file) => ({ ...file, path: `package/${file.path}` })),
    mtime,
  )
}
