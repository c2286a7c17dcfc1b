import type { Kysely } from 'kysely'
import { isVersion, toTimestamp } from '@skillstead/protocol'
import { changeAgentInstalls } from '../catalogue/skills/skill-counters.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { findAgent, findCallingAgent, isAuthentic, isOwnAgent } from '../accounts/find-agent.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import { accountId, type Caller } from '../kernel/caller.ts'
import { invalidField } from '../kernel/field-errors.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { compileQuery, type Param } from '../storage/compiled-query.ts'
import type { AgentRow, SkillRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { type AgentAction, linkAgent, recordActions } from './agent-actions.ts'
import { type StoredSet, type InstalledSkill, type KnownSkill, lookUpSkills } from './look-up-installs.ts'
import { listUpdates } from './install-updates.ts'
import { recommend } from './recommendations.ts'

const nextHeartbeatSeconds = 3600

/**
 * POST /heartbeat: updates for an agent's installed skills, and recommendations of other skills. The number of queries
 * does not grow with the number of skills. Writes only if the agent sends its token.
 */
export const heartbeat: Operation<'heartbeat', StorageContext> = async (context, input, caller, options = {}) => {
  requireOwnPlatform(input)
  const agent = await findAuthenticAgent(context, input, options)
  const stored: StoredSet = agent ? await readStoredSet(context.database.read, agent.id) : new Map()
  const names = new Set(input.installedSkills.map(({ skillName }) => skillName))
  const { found, unseenIds } = await lookUpSkills(context, names, caller)
  const installed = input.installedSkills.flatMap((item) => {
    const known = found.get(item.skillName)
    return known ? [{ ...known, item: { ...item, version: dropVersionPrefix(item.version) } }] : []
  })
  const asker = { agent, stored, caller, userIds: toUserIds(agent, caller) }
  const updates = await listUpdates(context, installed, asker)
  const recommendations = await recommend(context, toKnownSkills(installed), asker)
  if (agent) {
    const report = { agent, stored, installed: toInstalledSet(installed), unseenIds: new Set(unseenIds) }
    await recordInstalls(context, report, caller, options)
  }
  return {
    updates,
    unknown: [...names].filter((name) => !found.has(name)),
    recommendations,
    serverTime: toTimestamp(context.clock.now()),
    nextHeartbeatSeconds,
  }
}

function requireOwnPlatform({ platform, agentKey }: Input<'heartbeat'>): void {
  if (platform === undefined || agentKey === undefined) return
  const own = agentKey.slice(0, agentKey.indexOf(':'))
  if (platform === own) return
  throw invalidField('platform', `must be '${own}', as in agentKey`)
}

/** Accepts `v1.0.0`, as in git tags, for 1.0.0. Text that is no version even without `v` is returned unchanged. */
function dropVersionPrefix(text: string): string {
  const bare = text.replace(/^v/i, '')
  return isVersion(bare) ? bare : text
}

/** The agent, if the request has its token; an agent key without a token is ignored. */
async function findAuthenticAgent(
  { database }: StorageContext,
  { agentKey }: Input<'heartbeat'>,
  { agentToken }: CallOptions,
): Promise<AgentRow | undefined> {
  if (agentToken === undefined) return undefined
  if (agentKey === undefined) return findCallingAgent(database.read, agentToken)
  const agent = await findAgent(database.read, agentKey)
  return isAuthentic(agent, agentToken) ? agent : undefined
}

function toUserIds(agent: AgentRow | undefined, caller: Caller): Set<string> {
  const ids = [agent?.user_id, caller.kind === 'user' ? caller.userId : null]
  return new Set(ids.filter((id) => id !== null && id !== undefined))
}

function toKnownSkills(installed: readonly InstalledSkill[]): KnownSkill[] {
  return [...new Map(installed.map(({ skill }) => [skill.id, skill])).values()]
}

/** If a skill is named twice, the first version counts. */
function toInstalledSet(installed: readonly InstalledSkill[]): InstalledSet {
  return new Map(
    installed.toReversed().map(({ skill, item }) => [skill.id, { version: item.version, owner_id: skill.owner_id }]),
  )
}

/** A heartbeat that changes more skills than this is recorded as one action. */
const actionsMax = 10
/** The interval at which an agent's last-seen time is updated if nothing else changed. */
const seenEveryMs = 60_000

/** The reported version of each skill, by skill id. */
type InstalledSet = ReadonlyMap<string, { readonly version: string; readonly owner_id: SkillRow['owner_id'] }>
const selectStored = compileQuery((db, param: Param<{ id: string }>) =>
  db.selectFrom('agent_skills').selectAll().where('agent_id', '=', param('id')),
)

/** The stored skills of an agent. */
async function readStoredSet(db: Kysely<Tables>, agentId: string): Promise<StoredSet> {
  const rows = await selectStored(db, { id: agentId })
  return new Map(rows.map((row) => [row.skill_id, row]))
}

/**
 * Stores the differences between an agent's reported and stored skills, and when the agent was seen. `unseenIds`:
 * reported skills that the agent may not see now but may still have installed.
 */
async function recordInstalls(
  context: StorageContext,
  report: { agent: AgentRow; stored: StoredSet; installed: InstalledSet; unseenIds: ReadonlySet<string> },
  caller: Caller,
  options: CallOptions,
): Promise<void> {
  const { agent, stored, installed, unseenIds } = report
  const at = context.clock.now()
  const isLinked = agent.user_id === null && accountId(caller) !== null
  const isNews = at - agent.last_seen_at >= seenEveryMs || isLinked || agent.authenticated === 0
  const known = compareInstalls(agent, stored, installed, unseenIds)
  if (!isNews && known.added.length + known.changed.length + known.removed.length === 0) return
  const { writer } = context.database
  await writer.write(async (trx) => {
    const before = await findAgent(trx, agent.agent_key)
    // The token may have been reset after the first check.
    if (!before || !isAuthentic(before, options.agentToken)) return
    const now = await linkAgent(trx, before, accountId(caller))
    const difference = compareInstalls(now, await readStoredSet(trx, now.id), installed, unseenIds)
    await writeDifference(trx, now, difference, installed, at)
    const { added, removed } = difference
    const change = { authenticated: true, installs: added.length - removed.length }
    await recordActions(trx, now, toInstallActions(difference), at, change)
  })
}

/** Ids of skills. `changed`: skills with another version, or whose owner the agent is now linked to. */
interface Difference {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** Skills whose `agent_installs` increase and decrease. */
  readonly risen: readonly string[]
  readonly fallen: readonly string[]
}

function compareInstalls(agent: AgentRow, stored: StoredSet, installed: InstalledSet, unseenIds: ReadonlySet<string>) {
  const ids = [...installed.keys()]
  const counts = (id: string) => isCounted(agent, installed.get(id)!) === 1
  const was = (id: string) => stored.get(id)?.counted === 1
  const removed = [...stored.keys()].filter((id) => !installed.has(id) && !unseenIds.has(id))
  return {
    added: ids.filter((id) => !stored.has(id)),
    changed: ids.filter(
      (id) => stored.has(id) && (stored.get(id)!.version !== installed.get(id)!.version || counts(id) !== was(id)),
    ),
    removed,
    risen: ids.filter((id) => counts(id) && !was(id)),
    fallen: [...removed.filter(was), ...ids.filter((id) => !counts(id) && was(id))],
  }
}

/**
 * Whether an install counts: only installs by agents that are linked to a user count, except of the user's own skills,
 * because anyone can register agents.
 */
function isCounted(agent: AgentRow, skill: { owner_id: string }): 0 | 1 {
  return agent.user_id === null || isOwnAgent(agent, skill) ? 0 : 1
}

async function writeDifference(
  trx: WriteTransaction,
  agent: AgentRow,
  { added, changed, removed, risen, fallen }: Difference,
  installed: InstalledSet,
  at: number,
): Promise<void> {
  const rows = [...added, ...changed].map((skill_id) => {
    const { version, owner_id } = installed.get(skill_id)!
    return { agent_id: agent.id, skill_id, version, installed_at: at, counted: isCounted(agent, { owner_id }) }
  })
  if (rows.length > 0) {
    await trx
      .insertInto('agent_skills')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['agent_id', 'skill_id']).doUpdateSet((eb) => ({
          version: eb.ref('excluded.version'),
          counted: eb.ref('excluded.counted'),
        })),
      )
      .execute()
  }
  if (removed.length > 0)
    await trx.deleteFrom('agent_skills').where('agent_id', '=', agent.id).where('skill_id', 'in', removed).execute()
  await changeAgentInstalls(trx, risen, 1)
  await changeAgentInstalls(trx, fallen, -1)
}

function toInstallActions({ added, removed }: Difference): AgentAction[] {
  if (added.length + removed.length <= actionsMax) {
    return [
      ...added.map((skillId) => ({ type: 'installed' as const, skillId, detail: 'Installed the skill.' })),
      ...removed.map((skillId) => ({ type: 'removed' as const, skillId, detail: 'Removed the skill.' })),
    ]
  }
  const type = added.length >= removed.length ? 'installed' : 'removed'
  const parts = [
    added.length > 0 ? `installed ${countSkills(added)}` : '',
    removed.length > 0 ? `removed ${countSkills(removed)}` : '',
  ]
  const summary = parts.filter(Boolean).join(' and ')
  return [{ type, detail: `${summary[0]!.toUpperCase()}${summary.slice(1)}.` }]
}

function countSkills({ length }: readonly string[]): string {
  return length === 1 ? '1 skill' : `${length} skills`
}
