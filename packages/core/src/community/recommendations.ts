import type { HeartbeatResult } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import { toNamedItems } from '../catalogue/versions/shown-names.ts'
import { itemColumns } from '../catalogue/versions/skill-document.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Param } from '../storage/compiled-query.ts'
import { compileListQuery } from '../storage/list-query.ts'
import type { Asker } from './asker.ts'
import { keepOffered, type KnownSkill, offered } from './look-up-installs.ts'
import { suggestFromAgents, suggestFromPacks, type Suggestion, suggestPopular } from './recommendation-sources.ts'

type Recommendation = HeartbeatResult['recommendations'][number]

const recommendationsMax = 10
/** Candidates examined: many of the skills that agents have may be private. */
const candidatesMax = 200

/** The score ranges of the sources: agents first, then packs, then popularity. */
const bands = {
  agents: { from: 0.5, to: 1 },
  packs: { from: 0.2, to: 0.5 },
  popularity: { from: 0, to: 0.2 },
} as const

/**
 * Skills that fit the installed ones, best first. All are public and safe, and skills that only a few others have are
 * left out, so that no caller learns what a certain agent has.
 */
export async function recommend(context: StorageContext, installed: readonly KnownSkill[], asker: Asker) {
  const has = new Set(installed.map(({ id }) => id))
  const [agents, packs] = await Promise.all([
    suggestFromAgents(context, installed, asker),
    suggestFromPacks(context, installed),
  ])
  const scores = new Map<string, Scored>()
  addSuggestions(scores, 'agents', agents, has)
  addSuggestions(scores, 'packs', packs, has)
  const names = await keepOffered(context, rankCandidates(scores), asker.userIds)
  if (names.size < recommendationsMax) {
    const popular = await suggestPopular(context, installed, asker)
    addSuggestions(scores, 'popularity', popular, has)
    for (const { skillId, fullName } of popular) names.set(skillId, fullName)
  }
  return showBestCandidates(context, { scores, names }, asker.caller)
}

interface Scored extends Pick<Suggestion, 'reason' | 'pack'> {
  readonly score: number
}

function addSuggestions(
  scores: Map<string, Scored>,
  source: keyof typeof bands,
  suggestions: readonly Suggestion[],
  has: ReadonlySet<string>,
): void {
  const { from, to } = bands[source]
  for (const { skillId, share, reason, pack } of suggestions) {
    const score = Math.max(1, Math.round(1000 * (from + (to - from) * share))) / 1000
    if (!has.has(skillId) && score > (scores.get(skillId)?.score ?? 0))
      scores.set(skillId, { score, reason, ...(pack && { pack }) })
  }
}

/** The ids of the best candidates, best first. */
function rankCandidates(scores: ReadonlyMap<string, Scored>): string[] {
  const ranked = [...scores].toSorted(([id, a], [otherId, b]) => b.score - a.score || (id < otherId ? -1 : 1))
  return ranked.slice(0, candidatesMax).map(([id]) => id)
}

const selectItems = compileListQuery((db, param: Param<{ ids: Iterable<string> }>, lists) =>
  db
    .selectFrom('skills')
    .select(itemColumns)
    .where(lists.has('id', param('ids')))
    .where(offered),
)

async function showBestCandidates(
  context: StorageContext,
  { scores, names }: { scores: ReadonlyMap<string, Scored>; names: ReadonlyMap<string, string> },
  caller: Caller,
): Promise<Recommendation[]> {
  const best = [...names]
    .map(([id, fullName]) => ({ id, fullName, ...scores.get(id)! }))
    .toSorted((a, b) => b.score - a.score || (a.fullName < b.fullName ? -1 : 1))
    .slice(0, recommendationsMax)
  if (best.length === 0) return []
  const rows = await selectItems(context.database, { ids: best.map(({ id }) => id) })
  const skills = new Map((await toNamedItems(context, rows, caller)).map((skill) => [skill.id, skill]))
  // A skill may have been withdrawn since it was ranked.
  return best.flatMap(({ id, score, reason, pack = null }) => {
    const skill = skills.get(id)
    return skill ? [{ skill, score, reason, pack }] : []
  })
}
