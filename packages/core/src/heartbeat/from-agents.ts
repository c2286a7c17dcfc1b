import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { keepListQuery } from '../storage/list-query.ts'
import type { AgentRow } from '../storage/rows-community.ts'
import type { KnownSkill } from './look-up.ts'
import type { Asker, Suggestion } from './recommend.ts'

/** Sets are compared by so many of the installed skills: the rarest, which say most. */
const comparedMax = 20
/** Rows that are read, whatever agents have. */
const sharedRowsMax = 2000
const setRowsMax = 2000
/** So many agents are taken for similar. */
const similarMax = 50
/** What fewer have is nobody's business: anyone can register agents, so of those that are nobody's it takes more. */
const holdersMin = { ofUsers: 2, ofNobody: 5 } as const

/** An agent of another, and how much its set is like that of the one who asks. */
interface Similar {
  readonly agentId: string
  readonly kind: keyof typeof holdersMin
  readonly size: number
  readonly likeness: number
}

/** What agents with similar sets have. */
export async function suggestFromAgents(
  context: Context,
  installed: readonly KnownSkill[],
  asker: Asker,
): Promise<Suggestion[]> {
  const weights = weigh(installed, asker)
  if (weights.size === 0) return []
  const similar = takeMostAlike(await findSimilar(context, weights, asker))
  if (similar.length < holdersMin.ofUsers) return []
  return suggestWhatTheyHave(context, similar, new Set(installed.map(({ id }) => id)))
}

/** The rarest skills that others have too. A rare one in common says more than one that everybody has. */
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

type SharedRow = { agent_id: string; skill_id: string } & Pick<AgentRow, 'user_id' | 'install_count'>

const selectShared = keepListQuery<SharedRow>((db, lists) =>
  db
    .selectFrom('agent_skills')
    .innerJoin('agents', 'agents.id', 'agent_skills.agent_id')
    .select(['agent_id', 'skill_id', 'user_id', 'install_count'])
    .where(lists.has('skill_id'))
    .limit(sql.lit(sharedRowsMax)),
)

/** The agents of others that share any of the skills, one for each user: nobody makes many out of one. */
async function findSimilar(
  { database }: Context,
  weights: ReadonlyMap<string, number>,
  { agent, userIds }: Asker,
): Promise<Similar[]> {
  const shared = new Map<string, { row: SharedRow; weight: number }>()
  for (const row of await selectShared(database, weights.keys())) {
    if (row.agent_id === agent?.id || (row.user_id !== null && userIds.has(row.user_id))) continue
    const before = shared.get(row.agent_id)?.weight ?? 0
    shared.set(row.agent_id, { row, weight: before + weights.get(row.skill_id)! })
  }
  const byOwner = new Map<string, Similar>()
  for (const [agentId, { row, weight }] of shared) {
    // An agent that has everything is like nobody.
    const likeness = weight / Math.sqrt(Math.max(1, row.install_count))
    const owner = row.user_id ?? agentId
    if ((byOwner.get(owner)?.likeness ?? 0) < likeness)
      byOwner.set(owner, { agentId, kind: row.user_id ? 'ofUsers' : 'ofNobody', size: row.install_count, likeness })
  }
  return [...byOwner.values()]
}

function takeMostAlike(similar: readonly Similar[]): Similar[] {
  const chosen: Similar[] = []
  let rows = 0
  const mostAlikeFirst = similar.toSorted((a, b) => b.likeness - a.likeness || (a.agentId < b.agentId ? -1 : 1))
  for (const agent of mostAlikeFirst.slice(0, similarMax)) {
    rows += agent.size
    if (rows > setRowsMax && chosen.length >= holdersMin.ofUsers) break
    chosen.push(agent)
  }
  return chosen
}

const selectSets = keepListQuery<{ agent_id: string; skill_id: string }>((db, lists) =>
  db
    .selectFrom('agent_skills')
    .select(['agent_id', 'skill_id'])
    .where(lists.has('agent_id'))
    .limit(sql.lit(setRowsMax)),
)

async function suggestWhatTheyHave(
  { database }: Context,
  similar: readonly Similar[],
  installedIds: ReadonlySet<string>,
): Promise<Suggestion[]> {
  const agents = new Map(similar.map((agent) => [agent.agentId, agent]))
  const whole = similar.reduce((sum, agent) => sum + agent.likeness, 0)
  const held = new Map<string, { ofUsers: number; ofNobody: number; weight: number }>()
  for (const { agent_id, skill_id } of await selectSets(database, agents.keys())) {
    if (installedIds.has(skill_id)) continue
    const { kind, likeness } = agents.get(agent_id)!
    const before = held.get(skill_id) ?? { ofUsers: 0, ofNobody: 0, weight: 0 }
    held.set(skill_id, { ...before, [kind]: before[kind] + 1, weight: before.weight + likeness })
  }
  return [...held]
    .filter(([, { ofUsers, ofNobody }]) => ofUsers >= holdersMin.ofUsers || ofNobody >= holdersMin.ofNobody)
    .map(([skillId, { ofUsers, ofNobody, weight }]) => ({
      skillId,
      share: Math.min(1, weight / whole),
      reason: `Installed by ${ofUsers + ofNobody} agents with similar skills.`,
    }))
}
