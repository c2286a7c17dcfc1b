import { accessKinds, isVersion, toVersionSortKey, type Access, type Widens } from '@skillstead/protocol'
import { sql } from 'kysely'
import { findWidening } from '@skillstead/scanner'
import type { CommunityContext } from './community-context.ts'
import { keepListQuery } from '../storage/list-query.ts'
import type { Finding } from './install-updates.ts'

interface WayRow {
  place: number | string
  had: string
  latest: string
}

/** Only updates that change what is accessed, which few do. */
const selectWays = keepListQuery<WayRow>((db, lists) =>
  db
    .selectFrom(lists.table().as('way'))
    .innerJoin('versions as before', (join) =>
      join
        .on('before.skill_id', '=', sql<string>`way.value ->> 0`)
        .on('before.sort_key', '=', sql<string>`way.value ->> 1`),
    )
    .innerJoin('versions as after', (join) =>
      join
        .on('after.skill_id', '=', sql<string>`way.value ->> 0`)
        .on('after.sort_key', '=', sql<string>`way.value ->> 2`),
    )
    .innerJoin('version_access as had', 'had.version_id', 'before.id')
    .innerJoin('version_access as latest', 'latest.version_id', 'after.id')
    .select([sql<number | string>`way.value ->> 3`.as('place'), 'had.access as had', 'latest.access as latest'])
    .whereRef('had.access', '<>', 'latest.access'),
)

/** Reasons to install the latest version. */
const updating: ReadonlySet<Finding['reason']> = new Set(['outdated', 'yanked'])

/** What updates of skills would newly allow, by skill id, with one query for all of them. */
export async function readWidenings(
  { database }: CommunityContext,
  findings: readonly Finding[],
): Promise<Map<string, Widens>> {
  const ways = findings.flatMap(({ skill, item: { version }, reason }, place) =>
    updating.has(reason) && isVersion(version) && skill.latest_version !== '' && version !== skill.latest_version
      ? [[skill.id, toVersionSortKey(version), toVersionSortKey(skill.latest_version), place]]
      : [],
  )
  const rows = ways.length > 0 ? await selectWays(database, ways) : []
  return new Map(
    rows.flatMap(({ place, had, latest }) => {
      const { skill, item } = findings[Number(place)]!
      const earlier = { version: item.version, access: JSON.parse(had) as Access }
      const later = { version: skill.latest_version, access: JSON.parse(latest) as Access }
      const widens = findWidening(earlier, later)
      return widens ? [[skill.id, widens] as const] : []
    }),
  )
}

/**
 * What is new, in numbers only: agents read this sentence, and the names of what a version accesses are its author's
 * text.
 *
 * @example ' Review it first: although it is a patch, it newly uses 1 command and 2 hosts.'
 */
export function toWideningAdvice({ patch, added }: Widens): string {
  const counts = accessKinds.flatMap((kind) => {
    const count = added[kind].length
    const [one, many] = words[kind]
    return count > 0 ? [`${count} ${count === 1 ? one : many}`] : []
  })
  const [last, ...rest] = counts.toReversed()
  const listed =
    rest.length > 0 ? `${rest.toReversed().join(', ')} and ${last}` : (last ?? 'more than could be analysed')
  return ` Review it first: ${patch ? 'although it is a patch, it' : 'it'} newly uses ${listed}.`
}

const words: Readonly<Record<(typeof accessKinds)[number], readonly [one: string, many: string]>> = {
  tools: ['tool', 'tools'],
  commands: ['command', 'commands'],
  hosts: ['host', 'hosts'],
  environment: ['environment variable', 'environment variables'],
  packages: ['package', 'packages'],
  files: ['file path', 'file paths'],
}
