import type { Registry } from '@skillstead/core'
import type { SignIn } from '@skillstead/identity'
import { UsageError, textOption, type Arguments, type Options } from '../command/command.ts'
import { readSecretFile } from '../command/values.ts'
import { toNetworkMode } from '../mirror/options.ts'
import { toOutgoing } from '../registry/outgoing-options.ts'

/** The sign-in of people by an identity provider (docs/sign-in.md). */
export const signInOptions: Options = {
  'sign-in-issuer': {
    value: 'URL',
    help: 'the OpenID Connect provider by which people sign in, such as https://login.example.com. Default: none',
  },
  'sign-in-client': { value: 'ID', help: 'the client id of the node at the provider' },
  'sign-in-secret-file': { value: 'FILE', help: 'a file with the client secret. Default: a public client' },
  'sign-in-groups': {
    value: 'GROUP=GIFT,...',
    help: 'what groups of the provider give: administrators, ORGANISATION:ROLE or ORGANISATION/TEAM. Default: nothing',
  },
  'local-sign-in': {
    value: 'on|off',
    help: 'whether API keys sign in to the dashboard, in addition to the provider. Default: on',
    choices: ['on', 'off'],
  },
}

/** Whether API keys open sessions. Throws {@link UsageError} for `off` without a provider. */
export function toLocalSignIn(given: Arguments): boolean {
  const isOff = textOption(given, 'local-sign-in') === 'off'
  if (isOff && textOption(given, 'sign-in-issuer') === undefined)
    throw new UsageError('--local-sign-in off needs --sign-in-issuer: without it, no one could sign in.')
  return !isOff
}

/** Creates the sign-in of a node. Without settings, returns undefined and loads no code. Throws {@link UsageError}. */
export async function createNodeSignIn(
  registry: Registry,
  given: Arguments,
  onError: (error: unknown) => void,
): Promise<SignIn | undefined> {
  const [issuer, clientId, file, groups] = ['issuer', 'client', 'secret-file', 'groups'].map((name) =>
    textOption(given, `sign-in-${name}`),
  )
  if (issuer === undefined && clientId === undefined && file === undefined && groups === undefined) return undefined
  if (issuer === undefined || clientId === undefined)
    throw new UsageError('Pass both --sign-in-issuer and --sign-in-client.')
  if (toNetworkMode(given) === 'offline')
    throw new UsageError('--network offline allows no requests to a provider. Leave --sign-in-issuer out.')
  const clientSecret = file === undefined ? undefined : readSecretFile(file, 'client secret')
  const { createSignIn, parseGroupRules } = await import('@skillstead/identity')
  try {
    const rules = parseGroupRules(groups?.split(',') ?? [])
    const outgoing = await toOutgoing(given)
    return createSignIn(registry, { issuer, clientId, clientSecret, groups: rules, outgoing, onError })
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}
