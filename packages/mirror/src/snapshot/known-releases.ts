import { selectInBatches } from '../applying/prepare-package.ts'
import { readActiveRecalls, type StorageContext } from '@skillstead/core/internal'
import type { KnownReleases, KnownSkill, KnownVersion } from '../types.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** How long a refused release is not read again. Then it is, because the operator may have changed a setting. */
const refusedForMs = 24 * 60 * 60_000

/** Finds what is already stored of an upstream. With `full`, refused releases are read again at once. */
export function createKnownReleases(
  { database, clock }: StorageContext,
  upstream: string,
  full = false,
): KnownReleases {
  const { read, bucket } = database
  return {
    async find(fullNames) {
      const rows = await selectInBatches(fullNames, (names) =>
        read
          .selectFrom('skills')
          .innerJoin('versions', 'versions.skill_id', 'skills.id')
          .select(['skills.full_name', 'skills.deprecated', 'skills.visibility', 'skills.source_state'])
          .select('skills.recalls')
          .select(['versions.version', 'versions.digest', 'versions.published_at', 'versions.yanked'])
          .where('skills.full_name', 'in', names)
          .where('skills.origin_kind', '=', 'mirror')
          .where('skills.origin_upstream', '=', upstream)
          // A version is read again if the bucket lost one of its files.
          .$if(bucket !== undefined, (query) =>
            query.where('versions.id', 'not in', (eb) =>
              eb
                .selectFrom('blobs')
                .innerJoin('version_files', 'version_files.digest', 'blobs.digest')
                .select('version_files.version_id')
                .where('blobs.place', '=', 'lost'),
            ),
          )
          .execute(),
      )
      const found = new Map<string, KnownSkill & { versions: Map<string, KnownVersion> }>()
      for (const row of rows) {
        const { full_name: fullName, version, digest, published_at: publishedAt } = row
        const skill = found.get(fullName) ?? {
          isPrivate: row.visibility !== 'public',
          isWithdrawn: row.source_state === 'withdrawn',
          deprecated: row.deprecated === 1,
          recallIds: readActiveRecalls(row).flatMap((recall) => (recall.upstream ? [recall.id] : [])),
          versions: new Map(),
        }
        skill.versions.set(version, { digest, publishedAt, yanked: row.yanked === 1 })
        found.set(fullName, skill)
      }
      return found
    },
    async findRefused(subjects) {
      if (full) return new Set()
      const rows = await selectInBatches(subjects, (part) =>
        withUpstreams(read)
          .selectFrom('upstream_refusals')
          .select('subject')
          .where('upstream', '=', upstream)
          .where('subject', 'in', part)
          .where('at', '>', clock.now() - refusedForMs)
          .execute(),
      )
      return new Set(rows.map(({ subject }) => subject))
    },
    async findClaimed(owners) {
      const rows = await selectInBatches(owners, (names) =>
        read.selectFrom('users').select('username').where('username', 'in', names).where('claimed', '=', 1).execute(),
      )
      return new Set(rows.map(({ username }) => username))
    },
  }
}
