import { type HeartbeatResult, limits } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import { toNamedItems } from '../catalogue/versions/shown-names.ts'
import { itemColumns } from '../catalogue/versions/skill-document.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Param } from '../storage/compiled-query.ts'
import { compileListQuery, type Lists } from '../storage/list-query.ts'
import { type Asker, keepOffered, type KnownSkill, offered } from './look-up-installs.ts'
import { type SelectQueryBuilder, sql } from 'kysely'
import type { AgentRow, SkillRow, Tables } from '../storage/tables.ts'
import { isListedRow, publicCondition } from '../visibility/conditions.ts'

type Recommendation = HeartbeatResult['recommendations'][number]

const recommendationsMax = 10
/** Maximum number of candidates that are examined: far more than are returned, since private skills are left out. */
const candidatesMax = 200

/** The score ranges of the sources: agents first, then packs, then popularity. */
const bands = {
  agents: { from: 0.5, to: 1 },
  packs: { from: 0.2, to: 0.5 },
  popularity: { from: 0, to: 0.2 },
} as const

/**
 * Skills that fit the installed skills, best first. All suggested skills are public and safe. A skill of similar agents
 * is suggested only if agents of several users have it, so that no caller learns what a certain agent has.
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

/** A recommended skill, and the reason. */
interface Suggestion {
  readonly skillId: string
  /** Relative weight among the suggestions of one source: above 0, at most 1. */
  readonly share: number
  readonly reason: string
  readonly pack?: { readonly slug: string; readonly name: string }
}

/** Maximum installed skills by which agents are compared: the rarest skills, which distinguish agents best. */
const comparedMax = 20
const sharedRowsMax = 2000
const setRowsMax = 2000
const similarMax = 50
/**
 * The minimum number of users whose agents have a suggested skill: fewer would reveal private data, and a single user
 * could fabricate the installs.
 */
const usersMin = 2

/** An agent of another user, and the similarity of its skills to the caller's. */
interface Similar {
  readonly agentId: string
  readonly size: number
  readonly likeness: number
}

/** Skills that agents with similar skills have. */
async function suggestFromAgents(context: StorageContext, installed: readonly KnownSkill[], asker: Asker) {
  const weights = weighRarestSkills(installed, asker)
  if (weights.size === 0) return []
  const similar = takeMostAlike(await findSimilar(context, weights, asker))
  if (similar.length < usersMin) return []
  return suggestWhatTheyHave(context, similar, new Set(installed.map(({ id }) => id)))
}

/** Weighs the rarest installed skills: a rare skill in common says more about two agents than a popular skill. */
function weighRarestSkills(installed: readonly KnownSkill[], { stored }: Asker): Map<string, number> {
  const chosen = new Map<string, number>()
  let rows = 0
  const rarestFirst = installed
    .map(({ id, agent_installs }) => ({ id, others: agent_installs - (stored.get(id)?.counted ?? 0) }))
    .filter(({ others }) => others > 0)
    .toSorted((a, b) => a.others - b.others || (a.id < b.id ? -1 : 1))
  for (const { id, others } of rarestFirst.slice(0, comparedMax)) {
    if (chosen.size > 0 && rows + others > sharedRowsMax) break
    chosen.set(id, 1 / Math.log2(1 + others))
    rows += others
  }
  return chosen
}

type SharedRow = { agent_id: string; skill_id: string; user_id: string } & Pick<AgentRow, 'install_count'>

const selectAgentsWith = compileListQuery((db, param: Param<{ skillIds: Iterable<string> }>, lists) =>
  db
    .selectFrom('agent_skills')
    .innerJoin('agents', 'agents.id', 'agent_skills.agent_id')
    .select(['agent_id', 'skill_id', 'user_id', 'install_count'])
    .where(lists.has('skill_id', param('skillIds')))
    .where('counted', '=', (eb) => eb.lit(1))
    .$narrowType<{ user_id: string }>()
    .limit(sql.lit(sharedRowsMax)),
)

/** The agents of other users that share a skill. One agent per user, since a user can register any number of agents. */
async function findSimilar(
  { database }: StorageContext,
  weights: ReadonlyMap<string, number>,
  { agent, userIds }: Asker,
): Promise<Similar[]> {
  const shared = new Map<string, { row: SharedRow; weight: number }>()
  for (const row of await selectAgentsWith(database, { skillIds: weights.keys() })) {
    if (row.agent_id === agent?.id || userIds.has(row.user_id)) continue
    const before = shared.get(row.agent_id)?.weight ?? 0
    shared.set(row.agent_id, { row, weight: before + weights.get(row.skill_id)! })
  }
  const byUser = new Map<string, Similar>()
  for (const [agentId, { row, weight }] of shared) {
    // Divided by the number of installs: an agent that has everything is similar to none.
    const likeness = weight / Math.sqrt(Math.max(1, row.install_count))
    if ((byUser.get(row.user_id)?.likeness ?? 0) < likeness)
      byUser.set(row.user_id, { agentId, size: row.install_count, likeness })
  }
  return [...byUser.values()]
}

function takeMostAlike(similar: readonly Similar[]): Similar[] {
  const chosen: Similar[] = []
  let rows = 0
  const mostAlikeFirst = similar.toSorted((a, b) => b.likeness - a.likeness || (a.agentId < b.agentId ? -1 : 1))
  for (const agent of mostAlikeFirst.slice(0, similarMax)) {
    rows += agent.size
    if (rows > setRowsMax && chosen.length >= usersMin) break
    chosen.push(agent)
  }
  return chosen
}

const selectSets = compileListQuery((db, param: Param<{ agentIds: Iterable<string> }>, lists) =>
  db
    .selectFrom('agent_skills')
    .select(['agent_id', 'skill_id'])
    .where(lists.has('agent_id', param('agentIds')))
    .where('counted', '=', (eb) => eb.lit(1))
    .limit(sql.lit(setRowsMax)),
)

async function suggestWhatTheyHave(
  { database }: StorageContext,
  similar: readonly Similar[],
  installedIds: ReadonlySet<string>,
): Promise<Suggestion[]> {
  const agents = new Map(similar.map((agent) => [agent.agentId, agent]))
  const whole = similar.reduce((sum, agent) => sum + agent.likeness, 0)
  const candidates = new Map<string, { agentCount: number; weight: number }>()
  for (const { agent_id, skill_id } of await selectSets(database, { agentIds: agents.keys() })) {
    if (installedIds.has(skill_id)) continue
    const before = candidates.get(skill_id) ?? { agentCount: 0, weight: 0 }
    const weight = before.weight + agents.get(agent_id)!.likeness
    candidates.set(skill_id, { agentCount: before.agentCount + 1, weight })
  }
  return [...candidates]
    .filter(([, { agentCount }]) => agentCount >= usersMin)
    .map(([skillId, { agentCount, weight }]) => ({
      skillId,
      share: Math.min(1, weight / whole),
      reason: `Installed by ${agentCount} agents with similar skills.`,
    }))
}

const holdingRowsMax = 2000
const packsMax = 5
const memberRowsMax = packsMax * limits.packSkillsMax

interface InstalledPack {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly installedIds: string[]
}

/** Skills that are not installed, from the packs that contain the most installed skills. */
async function suggestFromPacks({ database }: StorageContext, installed: readonly KnownSkill[]) {
  const names = new Map(installed.map(({ id, full_name }) => [id, full_name]))
  const packs = groupByPack(await selectHoldings(database, { skillIds: names.keys() }))
  if (packs.length === 0) return []
  const rows = await selectMembers(database, { packIds: packs.map(({ id }) => id) })
  const members = Map.groupBy(rows, ({ pack_id }) => pack_id)
  return packs.flatMap(({ id, name, slug, installedIds }) => {
    const all = members.get(id) ?? []
    const partner = installedIds.map((skillId) => names.get(skillId)!).toSorted()[0]!
    // Count only members that everyone may see: the score would otherwise reveal the number of private members.
    const seen = new Set([...installedIds, ...all.map(({ skill_id }) => skill_id)])
    const share = installedIds.length / seen.size
    return all.map(({ skill_id }) => ({
      skillId: skill_id,
      share,
      reason: `In a pack with ${partner}.`,
      pack: { slug, name },
    }))
  })
}

const selectHoldings = compileListQuery((db, param: Param<{ skillIds: Iterable<string> }>, lists) =>
  db
    .selectFrom('pack_skills')
    .innerJoin('packs', 'packs.id', 'pack_skills.pack_id')
    .select(['pack_id', 'skill_id', 'name', 'slug'])
    .where(lists.has('skill_id', param('skillIds')))
    .where(sql<boolean>`packs.visibility = 'public' and packs.state = 'live'`)
    .limit(sql.lit(holdingRowsMax)),
)

const selectMembers = compileListQuery((db, param: Param<{ packIds: Iterable<string> }>, lists) =>
  db
    .selectFrom('pack_skills')
    .innerJoin('skills', 'skills.id', 'pack_skills.skill_id')
    .select(['pack_id', 'skill_id'])
    .where(lists.has('pack_id', param('packIds')))
    .where(publicCondition)
    .limit(sql.lit(memberRowsMax)),
)

function groupByPack(holdings: Awaited<ReturnType<typeof selectHoldings>>): InstalledPack[] {
  const packs = new Map<string, InstalledPack>()
  for (const { pack_id, skill_id, name, slug } of holdings) {
    const pack = packs.get(pack_id)
    if (pack) pack.installedIds.push(skill_id)
    else packs.set(pack_id, { id: pack_id, name, slug, installedIds: [skill_id] })
  }
  return [...packs.values()]
    .toSorted((a, b) => b.installedIds.length - a.installedIds.length || (a.slug < b.slug ? -1 : 1))
    .slice(0, packsMax)
}

const categoriesMax = 3
/** Maximum number of popular skills that one query returns. */
const skillsMax = 10

type NamedSuggestion = Suggestion & { readonly fullName: string }

/**
 * The most downloaded skills in the categories of the installed skills, or on the node if no installed skill has a
 * category.
 */
async function suggestPopular(
  { database }: StorageContext,
  installed: readonly KnownSkill[],
  { userIds }: Pick<Asker, 'userIds'>,
): Promise<NamedSuggestion[]> {
  const ids = installed.map(({ id }) => id)
  const categories = toCategories(installed)
  if (categories.length === 0)
    return toSuggestions(await selectPopular(database, { ids, userIds }), 1, 'Popular on this node.')
  const lists = categories.map(async ({ category, share }) => {
    const popular = await selectPopularOf(database, { category, ids, userIds })
    return toSuggestions(popular, share, 'Popular in its category.')
  })
  return (await Promise.all(lists)).flat()
}

function toSuggestions(popular: readonly PopularRow[], share: number, reason: string): NamedSuggestion[] {
  return popular.map(({ id, full_name }, place) => ({
    skillId: id,
    fullName: full_name,
    share: share * (1 - place / skillsMax),
    reason,
  }))
}

function toCategories(installed: readonly KnownSkill[]): { category: string; share: number }[] {
  const named = installed.filter(({ category }) => category !== '')
  return [...Map.groupBy(named, ({ category }) => category)]
    .map(([category, { length }]) => ({ category, share: length / named.length }))
    .toSorted((a, b) => b.share - a.share || (a.category < b.category ? -1 : 1))
    .slice(0, categoriesMax)
}

type PopularRow = Pick<SkillRow, 'id' | 'full_name'>

const selectPopular = compileListQuery((db, param: Param<Excluded>, lists) =>
  popularOf(db.selectFrom('skills'), param, lists).orderBy('full_name'),
)
const selectPopularOf = compileListQuery((db, param: Param<Excluded & { category: string }>, lists) =>
  popularOf(db.selectFrom('skills').where('category', '=', param('category')), param, lists).orderBy('id'),
)

interface Excluded {
  /** The ids of skills that are left out. */
  readonly ids: Iterable<string>
  /** Users whose forks are left out. */
  readonly userIds: Iterable<string>
}

function popularOf(skills: SelectQueryBuilder<Tables, 'skills', object>, param: Param<Excluded>, lists: Lists) {
  return skills
    .select(['id', 'full_name'])
    .where(lists.lacks('id', param('ids')))
    .where((eb) => eb.or([eb('forked_from', 'is', null), lists.lacks('owner_id', param('userIds'))]))
    .where(isListedRow)
    .where(offered)
    .orderBy('downloads', 'desc')
    .limit(sql.lit(skillsMax))
}
