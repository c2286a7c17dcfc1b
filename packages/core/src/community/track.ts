import { RegistryError } from '@skillstead/protocol'
import { seesPublicOnly, type Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { CommunityContext } from './community-context.ts'
import { findCallingAgent, isOwnAgent } from '../accounts/find-agent.ts'
import { recordExternalInstall } from './record-external-install.ts'
import { getMovedSkill } from '../catalogue/find-skill.ts'
import { isOwner } from '../catalogue/visibility.ts'
import type { AgentRow, SkillRow } from '../storage/tables.ts'
import type { UsedSkill } from '../catalogue/use-counts.ts'

interface Install {
  skillName: string
  source: 'registry' | 'github' | 'external'
  agents: string[]
  repoUrl?: string
}

const accepted = { accepted: true } as const

/**
 * POST /track: records an install and responds after the commit. Stores nothing about the caller. Installs by owners
 * and their agents of their own skills are not counted. Throws `forbidden` for a wrong token.
 */
export async function track(
  context: CommunityContext,
  input: Install,
  caller: Caller,
  options: CallOptions = {},
): Promise<{ accepted: true }> {
  checkRepoUrl(input)
  const agent = await findCallingAgent(context.database.read, options.agentToken)
  const skill = await findInstalled(context, input, caller, options)
  if (skill !== null && !(await isOwn(context, skill.id, caller, agent))) {
    await context.telemetry.record(skill, toPlatform(input.agents) ?? options.client)
  }
  return accepted
}

/**
 * The platform of the first agent that an install reports: `claude-code` of `claude-code:laptop`. The rest may identify
 * a person and is never stored. Undefined if no agent is given.
 */
function toPlatform([agent]: readonly string[]): string | undefined {
  return agent?.split(':', 1)[0]!.trim() || undefined
}

/** The installed skill; null if it is not here. */
async function findInstalled(
  context: CommunityContext,
  { skillName, source, repoUrl }: Install,
  caller: Caller,
  options: CallOptions,
): Promise<UsedSkill | null> {
  if (source !== 'registry') return recordExternalInstall(context, { skillName, source, repoUrl }, options)
  const find = async () => {
    const skill = await getMovedSkill(context, skillName, caller)
    return { id: skill.id, ownerId: skill.owner_id, mirrored: toMirrored(skill) }
  }
  return seesPublicOnly(caller) ? context.publicNames.get(skillName, find) : find()
}

function toMirrored(skill: SkillRow): UsedSkill['mirrored'] {
  const { origin_kind: kind, origin_upstream: upstream, full_name: fullName, visibility } = skill
  return kind === 'mirror' && upstream !== null && visibility === 'public' ? { upstream, fullName } : undefined
}

async function isOwn({ database }: CommunityContext, skillId: string, caller: Caller, agent: AgentRow | undefined) {
  if (caller.kind === 'guest' && !agent) return false
  const skill = await database.read.selectFrom('skills').select('owner_id').where('id', '=', skillId).executeTakeFirst()
  return skill !== undefined && (isOwner(skill, caller) || (agent !== undefined && isOwnAgent(agent, skill)))
}

/** Installs from GitHub must name the repository; others must not. */
function checkRepoUrl({ source, repoUrl }: Install): void {
  if ((source === 'github') === (repoUrl !== undefined)) return
  const message = source === 'github' ? 'is required if source is github' : 'is only allowed if source is github'
  throw new RegistryError('invalid_request', `repoUrl ${message}.`, { errors: [{ path: 'repoUrl', message }] })
}
