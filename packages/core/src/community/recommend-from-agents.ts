import { sql } from 'kysely'
import type { CommunityContext } from './community-context.ts'
import { keepListQuery } from '../storage/list-query.ts'
import type { AgentRow } from '../storage/rows-community.ts'
import type { KnownSkill } from './look-up-installs.ts'
import type { Asker, Suggestion } from './recommendations.ts'

/** The number of installed skills by which agents are compared: the rarest, which say most. */
const comparedMax = 20
/** The maximum number of rows read. */
const sharedRowsMax = 2000
const setRowsMax = 2000
/** The maximum number of similar agents. */
const similarMax = 50
/** What the agents of fewer users have is private, and a single user could fabricate it. */
const usersMin = 2

/** An agent of another user, and the similarity of its skills to the caller's. */
interface Similar {
  readonly agentId: string
  readonly size: number
  readonly likeness: number
}

/** Skills that agents with similar skills have. */
export async function suggestFromAgents(
  context: CommunityContext,
  installed: readonly KnownSkill[],
  asker: Asker,
): Promise<Suggestion[]> {
  const weights = weigh(installed, asker)
  if (weights.size === 0) return []
  const similar = takeMostAlike(await findSimilar(context, weights, asker))
  if (similar.length < usersMin) return []
  return suggestWhatTheyHave(context, similar, new Set(installed.map(({ id }) => id)))
}

/** The rarest skills that other agents have too: a rare one in common says more than a popular one. */
function weigh(installed: readonly KnownSkill[], { stored }: Asker): Map<string, number> {
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

const selectShared = keepListQuery<SharedRow>((db, lists) =>
  db
    .selectFrom('agent_skills')
    .innerJoin('agents', 'agents.id', 'agent_skills.agent_id')
    .select(['agent_id', 'skill_id', 'user_id', 'install_count'])
    .where(lists.has('skill_id'))
    .where('counted', '=', (eb) => eb.lit(1))
    .$narrowType<{ user_id: string }>()
    .limit(sql.lit(sharedRowsMax)),
)

/**
 * The agents of other users that share any of the skills, one per user, since anyone can register any number of agents.
 */
async function findSimilar(
  { database }: CommunityContext,
  weights: ReadonlyMap<string, number>,
  { agent, userIds }: Asker,
): Promise<Similar[]> {
  const shared = new Map<string, { row: SharedRow; weight: number }>()
  for (const row of await selectShared(database, weights.keys())) {
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

const selectSets = keepListQuery<{ agent_id: string; skill_id: string }>((db, lists) =>
  db
    .selectFrom('agent_skills')
    .select(['agent_id', 'skill_id'])
    .where(lists.has('agent_id'))
    .where('counted', '=', (eb) => eb.lit(1))
    .limit(sql.lit(setRowsMax)),
)

async function suggestWhatTheyHave(
  { database }: CommunityContext,
  similar: readonly Similar[],
  installedIds: ReadonlySet<string>,
): Promise<Suggestion[]> {
  const agents = new Map(similar.map((agent) => [agent.agentId, agent]))
  const whole = similar.reduce((sum, agent) => sum + agent.likeness, 0)
  const candidates = new Map<string, { agentCount: number; weight: number }>()
  for (const { agent_id, skill_id } of await selectSets(database, agents.keys())) {
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
