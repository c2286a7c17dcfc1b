import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { readFilesOfMany, type FileRow } from './version-files.ts'
import { readBlobs } from './blob-groups.ts'
import { readOffersOfPage, type Offer } from './discovery-offers.ts'
import { answerFor } from './discovery-scopes.ts'

/** A listed skill with the files of its latest version, SKILL.md first. */
export interface OfferedSkill extends Pick<Offer, 'name' | 'version' | 'description'> {
  readonly fullName: string
  readonly files: readonly FileRow[]
}

/**
 * A page of all skills that the caller may see, most downloaded first, with their files. The number of queries does not
 * grow with the page. Skills that should not be installed in bulk are left out, so a page may be short.
 */
export function listOffers(
  context: CatalogueContext,
  page: { page: number; limit: number },
  caller: Caller,
): Promise<{ skills: OfferedSkill[]; totalPages: number }> {
  return answerFor(context, async () => {
    const { offers, totalPages } = await readOffersOfPage(context, page, caller)
    const files = await readFilesOfMany(
      context.database.read,
      offers.map(({ id }) => id),
    )
    const skills = offers.map(({ id, owner, name, version, description }) => {
      return { fullName: `${owner}/${name}`, name, version, description, files: files.get(id) ?? [] }
    })
    return { skills, totalPages }
  })
}

/**
 * The bytes of files that {@link listOffers} returned, by digest, in batches, so that they are never all in memory.
 * Does not check permissions.
 */
export function readOfferedFiles(
  context: CatalogueContext,
  files: readonly FileRow[],
): AsyncIterable<[digest: string, bytes: Uint8Array]> {
  return readBlobs(context.database.read, new Map(files.map(({ digest, size }) => [digest, size])))
}
