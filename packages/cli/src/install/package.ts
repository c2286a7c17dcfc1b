import { checkPaths } from '@skillstead/skill-format/archives'
import type { ContentFile } from '@skillstead/client/verify'
import { readZipContent } from '../verify/content.ts'

/**
 * Unpacks a package. Throws for a file that is not a zip, one that is too large, and paths that lead out of the target
 * folder, that a file system cannot store, that would overwrite each other, or that git reserves.
 */
export async function readPackage(zip: Uint8Array): Promise<ContentFile[]> {
  const files = await readZipContent(zip)
  if (!files.some(({ path }) => path === 'SKILL.md')) throw new Error('It contains no SKILL.md.')
  const others = files.filter(({ path }) => path !== 'SKILL.md')
  const [problem] = checkPaths(others.map(({ path, bytes }) => ({ path, size: bytes.length })))
  if (problem) throw new Error([problem.path, problem.message].filter(Boolean).join(': '))
  return files
}
