import { type Agent, RegistryError, toTimestamp } from '@skillstead/protocol'
import { sql, type SqlBool } from 'kysely'
import type { CommunityContext } from './community-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { findAgent, getAgentByKey, isAuthentic } from '../accounts/find-agent.ts'
import { isOpenToViewer } from '../visibility/conditions.ts'
import { isAdministrator } from '../visibility/rights.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import { accountId, type Caller, callerId } from '../kernel/caller.ts'
import { invalidField } from '../kernel/field-errors.ts'
import { newId } from '../kernel/ids.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { createToken, isTokenOf } from '../kernel/tokens.ts'
import { recordAudit } from '../log/audit.ts'
import { readPage } from '../storage/read-page.ts'
import type { AgentActionType, AgentRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { linkAgent, recordActions } from './agent-actions.ts'

/**
 * Called before a write that may register an agent: counts a new agent against the hourly limit of the address. Throws
 * `rate_limited`, and `forbidden` for a wrong token, without counting the request.
 */
export async function admitAgent(context: CommunityContext, agentKey: string, options: CallOptions): Promise<void> {
  const agent = await findAgent(context.database.read, agentKey)
  isAuthentic(agent, options.agentToken)
  if (!agent) await context.addressLimits.require('agent', options.address)
}

/**
 * The agent with a key, if it is registered, and whether the request has its token. Links an authenticated agent to the
 * caller's user.
 */
export async function recognizeAgent(
  trx: WriteTransaction,
  agentKey: string,
  by: { caller: Caller; options: CallOptions },
): Promise<{ agent: AgentRow | undefined; authenticated: boolean }> {
  const agent = await findAgent(trx, agentKey)
  const authenticated = isAuthentic(agent, by.options.agentToken)
  if (!agent || !authenticated) return { agent, authenticated: false }
  return { agent: await linkAgent(trx, agent, accountId(by.caller)), authenticated }
}

/** Registers an agent. The token is only in the response: the database stores its hash. */
export async function insertAgent(trx: WriteTransaction, agent: { agentKey: string; displayName: string }, at: number) {
  const { token, hash } = createToken('sat')
  const row: AgentRow = {
    id: newId(),
    agent_key: agent.agentKey,
    display_name: agent.displayName,
    platform_id: toPlatformOfKey(agent.agentKey),
    token_hash: hash,
    user_id: null,
    authenticated: 0,
    trust_score: 0,
    review_count: 0,
    authenticated_review_count: 0,
    helpful_count: 0,
    published_count: 0,
    install_count: 0,
    registered_at: at,
    last_seen_at: at,
  }
  await trx.insertInto('agents').values(row).execute()
  await recordActions(trx, row, [{ type: 'registered', detail: 'Registered' }], at)
  return { agent: row, agentToken: token }
}

/** Returns the platform in an agent key: `codex` of `codex:laptop`. */
function toPlatformOfKey(agentKey: string): string {
  return agentKey.slice(0, agentKey.indexOf(':'))
}

/**
 * POST /agents: 201 with a token for a new agent key, 200 without a token for a known key. Changing the name of a known
 * agent requires its token. Throws `invalid_request` if key and platform disagree, `forbidden`, `rate_limited`.
 */
export const registerAgent: Operation<'registerAgent', CommunityContext> = async (
  context,
  input,
  caller,
  options = {},
) => {
  requirePlatformOfKey(input)
  await admitAgent(context, input.agentKey, options)
  return context.database.writer.write(async (trx) => {
    const at = context.clock.now()
    const { agent, authenticated } = await recognizeAgent(trx, input.agentKey, { caller, options })
    if (!agent) {
      const made = await insertAgent(trx, input, at)
      return { status: 201, body: { ...toAgent(made.agent), agentToken: made.agentToken } }
    }
    if (!authenticated) {
      if (agent.display_name !== input.displayName) throw needsToken(input.agentKey)
      return { status: 200, body: toAgent(agent) }
    }
    await trx.updateTable('agents').set({ display_name: input.displayName }).where('id', '=', agent.id).execute()
    return { status: 200, body: toAgent(await recordActions(trx, agent, [], at, { authenticated })) }
  })
}

function requirePlatformOfKey({ agentKey, platformId }: Input<'registerAgent'>): void {
  const platform = toPlatformOfKey(agentKey)
  if (platform === platformId) return
  throw invalidField('platformId', `must be '${platform}', the first part of the agentKey.`)
}

function needsToken(agentKey: string): RegistryError {
  const advice = 'Send its token in X-Agent-Token to change the name.'
  return new RegistryError('forbidden', `${agentKey} is registered under another displayName. ${advice}`)
}

/**
 * POST /agents/<agentKey>/token, for administrators, after a token was lost or leaked: revokes the old token and
 * returns the new one, which is shown only in this response. The agent's user is unchanged.
 */
export const resetAgentToken: Operation<'resetAgentToken', StorageContext> = async (context, input, caller) =>
  context.database.writer.write(async (trx) => {
    const agent = await getAgentByKey(trx, input.agentKey)
    const { token, hash } = createToken('sat')
    await trx.updateTable('agents').set({ token_hash: hash }).where('id', '=', agent.id).execute()
    const at = context.clock.now()
    await recordAudit(trx, { caller, action: 'agent.reset_token', subject: agent.agent_key, at })
    return { agentKey: agent.agent_key, agentToken: token }
  })

const sortColumns = {
  trust: 'trust_score',
  activity: 'last_seen_at',
  published: 'published_count',
  reviews: 'review_count',
} as const

/**
 * GET /agents: sorted by trust score (default), last activity, publishes or reviews, highest first, then by key, so
 * that pages never overlap.
 */
export const listAgents: Operation<'listAgents', StorageContext> = async (context, input) => {
  const { sort, platform } = input
  const agents = context.database.read
    .selectFrom('agents')
    .$if(platform !== undefined, (query) => query.where('platform_id', '=', platform!))
  const sorted = agents.selectAll().orderBy(sortColumns[sort], 'desc').orderBy('agent_key')
  const { rows, paging } = await readPage(agents, sorted, input)
  return { agents: rows.map(toAgent), ...paging }
}

const activityMax = 50

/** What an agent has installed is private: attackers could use a public list of installed skills. */
const privateActions: readonly AgentActionType[] = ['installed', 'removed']

/**
 * GET /agents/<agentKey>: with the latest actions on skills that the caller may see. Only the agent itself, its user
 * and administrators see what it installed.
 */
export const getAgent: Operation<'getAgent', StorageContext> = async (context, input, caller, options = {}) => {
  const agent = await getAgentByKey(context.database.read, input.agentKey)
  const isOwn = isCallingAgent(agent, options) || isUserOf(agent, caller) || isAdministrator(caller)
  const rows = await context.database.read
    .selectFrom('agent_activity')
    .leftJoin('skills', 'skills.id', 'agent_activity.skill_id')
    .select(['type', 'at', 'detail', 'full_name'])
    .where('agent_id', '=', agent.id)
    .$if(!isOwn, (select) => select.where('type', 'not in', privateActions))
    // Filtered in the database: any number of rows might be skipped before enough visible ones are found.
    .where(sql<SqlBool>`(skill_id is null or (skills.state = 'live' and ${isOpenToViewer(callerId(caller))}))`)
    .orderBy('agent_activity.id', 'desc')
    .limit(activityMax)
    .execute()
  const activity = rows.map(({ type, at, detail, full_name }) => ({
    type,
    at: toTimestamp(at),
    ...(full_name !== null && { skill: full_name }),
    detail,
  }))
  return { ...toAgent(agent), activity }
}

/** Agents may read each other's profiles with their own tokens, so a token of another agent is no error. */
function isCallingAgent(agent: AgentRow, { agentToken }: CallOptions): boolean {
  return agentToken !== undefined && isTokenOf(agent.token_hash, agentToken)
}

function isUserOf(agent: AgentRow, caller: Caller): boolean {
  return agent.user_id !== null && agent.user_id === callerId(caller)
}

/** The public form of an agent: without its token and its user. */
function toAgent(row: AgentRow): Agent {
  return {
    agentKey: row.agent_key,
    displayName: row.display_name,
    platformId: row.platform_id,
    trustScore: row.trust_score,
    reviewCount: row.review_count,
    publishedCount: row.published_count,
    installCount: row.install_count,
    registeredAt: toTimestamp(row.registered_at),
    lastSeenAt: toTimestamp(row.last_seen_at),
  }
}
