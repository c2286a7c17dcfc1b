import { checkPaths } from '@skillstead/skill-format/archives'
import type { ContentFile } from '@skillstead/client/verify'
import { readZipContent } from '../verify/content.ts'

/**
 * The files of a package. Throws for what is no zip, for one that is too large, and for paths that lead out of the folder
 * it is unpacked in, that a file system cannot hold, that would overwrite each other, or that git takes for its own.
 */
export async function readPackage(zip: Uint8Array): Promise<ContentFile[]> {
  const files = await readZipContent(zip)
  if (!files.some(({ path }) => path === 'SKILL.md')) throw new Error('It holds no SKILL.md.')
  const others = files.filter(({ path }) => path !== 'SKILL.md')
  const [problem] = checkPaths(others.map(({ path, bytes }) => ({ path, size: bytes.length })))
  if (problem) throw new Error([problem.path, problem.message].filter(Boolean).join(': '))
  return files
}
