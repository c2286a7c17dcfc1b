import { RegistryError } from '@skillstead/protocol'
import { seesPublicOnly, type Caller } from '../caller.ts'
import type { CallOptions, Context } from '../context.ts'
import { findAgentByToken, isOwnAgent } from '../agents/find-agent.ts'
import { recordExternalInstall } from '../external/record-install.ts'
import { getMovedSkill } from '../skills/find-skill.ts'
import { isOwner } from '../skills/visibility.ts'

interface Install {
  skillName: string
  source: 'registry' | 'github' | 'external'
  agents: string[]
  repoUrl?: string
}

const accepted = { accepted: true } as const

/**
 * POST /track: records an install, and answers after the commit. Of who installed nothing is kept. What owners install
 * of their own is no use of it by anybody, and is not counted.
 */
export async function track(
  context: Context,
  input: Install,
  caller: Caller,
  options: CallOptions = {},
): Promise<{ accepted: true }> {
  checkRepoUrl(input)
  const skillId = await findCounted(context, input, caller, options)
  if (skillId !== null) await context.telemetry.record(skillId)
  return accepted
}

/** The skill whose install is counted; null where there is nothing here to count it for. */
async function findCounted(
  context: Context,
  { skillName, source, repoUrl }: Install,
  caller: Caller,
  options: CallOptions,
): Promise<string | null> {
  if (source !== 'registry') return recordExternalInstall(context, { skillName, source, repoUrl }, options)
  if (seesPublicOnly(caller) && options.agentToken === undefined) {
    return context.publicNames.getId(skillName, async () => (await getMovedSkill(context, skillName, caller)).id)
  }
  const skill = await getMovedSkill(context, skillName, caller)
  if (isOwner(skill, caller)) return null
  const agent = options.agentToken && (await findAgentByToken(context.database.read, options.agentToken))
  return agent && isOwnAgent(agent, skill) ? null : skill.id
}

/** A GitHub repository is named with installs from there, and with no others. */
function checkRepoUrl({ source, repoUrl }: Install): void {
  if ((source === 'github') === (repoUrl !== undefined)) return
  const message = source === 'github' ? 'is needed with source github' : 'is for source github alone'
  throw new RegistryError('invalid_request', `repoUrl ${message}.`, { errors: [{ path: 'repoUrl', message }] })
}
