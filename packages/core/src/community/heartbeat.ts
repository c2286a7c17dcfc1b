import { type HeartbeatResult, isVersion, RegistryError, toTimestamp } from '@skillstead/protocol'
import { findAgent, findCallingAgent, isAuthentic } from '../accounts/find-agent.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { CommunityContext } from './community-context.ts'
import type { AgentRow } from '../storage/tables.ts'
import { readStored, recordInstalls, type InstalledSet, type StoredSet } from './reported-installs.ts'
import { lookUp, type KnownSkill } from './look-up-installs.ts'
import { recommend } from './recommendations.ts'
import { listUpdates, type Installed, type InstalledItem } from './install-updates.ts'

interface HeartbeatInput {
  installedSkills: InstalledItem[]
  platform?: string | undefined
  agentKey?: string | undefined
}

const nextHeartbeatSeconds = 3600

/**
 * POST /heartbeat: what an agent should know about its installed skills, and which others it might want. The number of
 * queries does not grow with the number of skills. Writes only if the agent sends its token.
 */
export async function heartbeat(
  context: CommunityContext,
  input: HeartbeatInput,
  caller: Caller,
  options: CallOptions = {},
): Promise<HeartbeatResult> {
  refuseOtherPlatform(input)
  const agent = await findAuthentic(context, input, options)
  const stored: StoredSet = agent ? await readStored(context.database, agent.id) : new Map()
  const names = new Set(input.installedSkills.map(({ skillName }) => skillName))
  const { found, unseenIds } = await lookUp(context, names, caller)
  const installed = input.installedSkills.flatMap((item) => {
    const known = found.get(item.skillName)
    return known ? [{ ...known, item: { ...item, version: readVersion(item.version) } }] : []
  })
  const asker = { agent, stored, caller, userIds: toUserIds(agent, caller) }
  const updates = await listUpdates(context, installed, asker)
  const recommendations = await recommend(context, toSkills(installed), asker)
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

function refuseOtherPlatform({ platform, agentKey }: HeartbeatInput): void {
  if (platform === undefined || agentKey === undefined) return
  const own = agentKey.slice(0, agentKey.indexOf(':'))
  if (platform === own) return
  const message = `must be '${own}', as in agentKey`
  throw new RegistryError('invalid_request', `platform ${message}.`, { errors: [{ path: 'platform', message }] })
}

/** Accepts `v1.0.0`, as in git tags, for 1.0.0. Text that is no version either way is returned unchanged. */
function readVersion(text: string): string {
  const bare = text.replace(/^v/i, '')
  return isVersion(bare) ? bare : text
}

/** The agent if its token was correct; an unauthenticated claim is ignored. */
async function findAuthentic(
  { database }: CommunityContext,
  { agentKey }: HeartbeatInput,
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

function toSkills(installed: readonly Installed[]): KnownSkill[] {
  return [...new Map(installed.map(({ skill }) => [skill.id, skill])).values()]
}

/** If a skill is named twice, the first version counts. */
function toInstalledSet(installed: readonly Installed[]): InstalledSet {
  return new Map(
    installed.toReversed().map(({ skill, item }) => [skill.id, { version: item.version, owner_id: skill.owner_id }]),
  )
}
