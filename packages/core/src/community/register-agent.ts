import { RegistryError, type Agent, type Reply } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { CommunityContext } from './community-context.ts'
import { admitAgent, insertAgent, recognizeAgent, toPlatformId } from './admit-agent.ts'
import { recordActions } from './agent-actions.ts'
import { toAgent } from './agent-form.ts'

interface RegisterInput {
  agentKey: string
  displayName: string
  platformId: string
}

/**
 * POST /agents: 201 with the token for a new key, 200 without it for a known one. Changing a known agent's name
 * requires its token. Throws `invalid_request` if key and platform disagree, `forbidden`, `rate_limited`.
 */
export async function registerAgent(
  context: CommunityContext,
  input: RegisterInput,
  caller: Caller,
  options: CallOptions = {},
): Promise<Reply<Agent & { agentToken?: string }>> {
  refuseOtherPlatform(input)
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

function refuseOtherPlatform({ agentKey, platformId }: RegisterInput): void {
  const platform = toPlatformId(agentKey)
  if (platform === platformId) return
  const message = `must be '${platform}', the first part of the agentKey.`
  throw new RegistryError('invalid_request', `platformId ${message}`, { errors: [{ path: 'platformId', message }] })
}

function needsToken(agentKey: string): RegistryError {
  return new RegistryError(
    'forbidden',
    `${agentKey} is registered under another displayName. Send its token in X-Agent-Token to change it.`,
  )
}
