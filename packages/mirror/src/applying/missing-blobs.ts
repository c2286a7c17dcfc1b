import type { CatalogueContext } from '@skillstead/core/internal'

/** So many digests are looked up with one query. */
const lookedUpMax = 500

/** Those of the digests whose bytes are not here, each once, in their order. */
export async function findMissingBlobs({ database }: CatalogueContext, digests: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(digests)]
  const there = new Set<string>()
  for (let i = 0; i < wanted.length; i += lookedUpMax) {
    const rows = await database.read
      .selectFrom('blobs')
      .select('digest')
      .where('digest', 'in', wanted.slice(i, i + lookedUpMax))
      .execute()
    for (const { digest } of rows) there.add(digest)
  }
  return wanted.filter((digest) => !there.has(digest))
}
