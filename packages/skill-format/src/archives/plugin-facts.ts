/** The facts in a plugin's manifest that come from its skills. */
export interface PluginFacts {
  /** Whether a skill has this folder. */
  has(folder: string): boolean
  /** Adds or replaces a skill. */
  put(folder: string, skill: PluginSkillFacts): void
  /** The license, if all skills have the same one, and the keywords of most skills, sorted. */
  summarize(): { readonly license: string | undefined; readonly keywords: readonly string[] }
}

interface PluginSkillFacts {
  readonly license: string
  readonly keywords: readonly string[]
}

const keywordsMax = 50
/** Maximum number of keywords of one skill. */
const skillKeywordsMax = 20

/** Creates the facts of a plugin without skills. They do not depend on the order in which skills are put. */
export function createPluginFacts(): PluginFacts {
  const skills = new Map<string, PluginSkillFacts>()
  const licenses = new Map<string, number>()
  const keywords = new Map<string, number>()

  function count({ license, keywords: own }: PluginSkillFacts, by: 1 | -1): void {
    add(licenses, license, by)
    for (const keyword of own) add(keywords, keyword, by)
  }

  return {
    has: (folder) => skills.has(folder),
    put(folder, { license, keywords: given }) {
      const skill = { license, keywords: [...new Set(given)].slice(0, skillKeywordsMax) }
      const before = skills.get(folder)
      if (before) count(before, -1)
      count(skill, 1)
      skills.set(folder, skill)
    },
    summarize() {
      const [license = ''] = licenses.keys()
      return {
        license: licenses.size === 1 && license !== '' ? license : undefined,
        keywords: selectFrequent(keywords).toSorted(),
      }
    },
  }
}

function add(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

/** Selects the most frequent keywords. Sorting all keywords for each commit of a history would take seconds. */
function selectFrequent(counts: ReadonlyMap<string, number>): string[] {
  if (counts.size <= keywordsMax) return [...counts.keys()]
  const best: [string, number][] = []
  for (const entry of counts) {
    if (best.length === keywordsMax && !isBefore(entry, best.at(-1)!)) continue
    const at = best.findIndex((other) => isBefore(entry, other))
    best.splice(at === -1 ? best.length : at, 0, entry)
    best.length = Math.min(best.length, keywordsMax)
  }
  return best.map(([keyword]) => keyword)
}

function isBefore([a, countA]: [string, number], [b, countB]: [string, number]): boolean {
  return countA === countB ? a < b : countA > countB
}
