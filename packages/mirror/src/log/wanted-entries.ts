import { explainFiltered, hasFilters, isNameMatch } from '../filters.ts'
import { isPrivateName, type Run } from '../run.ts'
import { readMirroredNames, readMirroredPacks } from '../store/mirrored-names.ts'
import type { FeedEntry } from '../types.ts'

/** What a run wants of a log. */
export interface Wanted {
  /**
   * Whether an entry is to be looked at. Those that only change what is here always are: nothing comes in by them, and
   * what upstream took back must go here too.
   */
  wants(entry: FeedEntry): boolean
  /** Why an entry that was looked at may not come in, in a sentence; undefined where it may. */
  refuse(entry: FeedEntry): string | undefined
}

/**
 * By the mode, the filters and the private names. `superseded` are the removals that lie ahead, by full name; `pulled` are
 * the skills that somebody asked for.
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
      // Of those of which nothing is here `completePacks` makes one as soon as something is.
      if (entry.type === 'pack') return isAll || packs.has(entry.subject)
      if (entry.type !== 'version') return true
      const fullName = toFullName(entry)
      // Gone upstream since, together with its content.
      if ((superseded.get(fullName) ?? 0) > entry.seq) return false
      return isChosen(fullName) && explainFiltered(filters, toFiltered(entry)) === undefined
    },
    refuse(entry) {
      if (!isPrivateName(run.parts, toFullName(entry))) return undefined
      return 'The operator keeps this name to the node itself (--private-names).'
    },
  }
}

/** The full name of the skill that an entry is about; the slug of a pack. */
export function toFullName({ subject }: Pick<FeedEntry, 'subject'>): string {
  const at = subject.indexOf('@')
  return at === -1 ? subject : subject.slice(0, at)
}

function toFiltered(entry: FeedEntry): Parameters<typeof explainFiltered>[1] {
  const [owner = '', name = ''] = toFullName(entry).split('/')
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
