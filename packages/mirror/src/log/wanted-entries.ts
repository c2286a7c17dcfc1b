import { explainFiltered, hasFilters, isNameMatch } from '../filters.ts'
import { isPrivateName, type Run } from '../run.ts'
import { readMirroredNames, readMirroredPacks } from '../store/mirrored-names.ts'
import type { FeedEntry } from '../types.ts'

/** Decides which entries of a log a run imports. */
export interface Wanted {
  /**
   * Whether to apply an entry. Entries that only change stored skills are always applied: they import nothing, and
   * skills that the upstream removed must be removed here too.
   */
  wants(entry: FeedEntry): boolean
  /** Explains in a sentence why a wanted entry is refused; undefined if it is not refused. */
  refuse(entry: FeedEntry): string | undefined
}

/**
 * Decides which entries are wanted, by the mode, the filters and the private names. `superseded`: for each skill that the log removes later, the
 * number of the removing entry, by full name. `pulled`: the skills that a caller requested.
 */
export async function createWanted(
  run: Run,
  superseded: ReadonlyMap<string, number>,
  pulled: ReadonlySet<string> = new Set(),
): Promise<Wanted> {
  const { mode, filters, selected } = run.upstream.settings
  const isAll = mode === 'full' && !hasFilters(filters)
  const here =
    mode === 'pull-through' ? await readMirroredNames(run.parts.context, run.upstream.name) : new Set<string>()
  const packs = isAll ? new Set<string>() : await readMirroredPacks(run.parts.context, run.upstream.name)

  function isChosen(fullName: string): boolean {
    if (mode === 'selected') return selected.some((pattern) => isNameMatch(pattern, fullName))
    return mode === 'full' || here.has(fullName) || pulled.has(fullName)
  }

  return {
    wants(entry) {
      // A pack is skipped if only some skills are imported: `completePacks` creates it as soon as one of its skills is
      // stored.
      if (entry.type === 'pack') return isAll || packs.has(entry.subject)
      if (entry.type !== 'version') return true
      const fullName = toEntrySkill(entry)
      // A later entry removes the skill, and the upstream no longer has its content.
      if ((superseded.get(fullName) ?? 0) > entry.seq) return false
      return isChosen(fullName) && explainFiltered(filters, toFiltered(entry)) === undefined
    },
    refuse(entry) {
      if (!isPrivateName(run.parts, toEntrySkill(entry))) return undefined
      return 'The operator reserved this name for this node (--private-names).'
    },
  }
}

/** The full name of the entry's skill; for a pack its slug. */
export function toEntrySkill({ subject }: Pick<FeedEntry, 'subject'>): string {
  const at = subject.indexOf('@')
  return at === -1 ? subject : subject.slice(0, at)
}

function toFiltered(entry: FeedEntry): Parameters<typeof explainFiltered>[1] {
  const [owner = '', name = ''] = toEntrySkill(entry).split('/')
  const { keywords, category, license, size } = entry.data
  return {
    owner,
    name,
    keywords: Array.isArray(keywords) ? keywords.filter((word) => typeof word === 'string') : [],
    category: typeof category === 'string' ? category : '',
    license: typeof license === 'string' ? license : '',
    size: typeof size === 'number' ? size : undefined,
  }
}
