import { ciServices, type TrustedPublisher } from '@skillstead/protocol'
import { textOption, UsageError } from '../../command/command.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { endpointCommand, endpointList } from '../../registry/endpoint-command.ts'

const services = new Map(Object.entries(ciServices))
const actor = 'owner of the skills'

export const commands = {
  'trust list': endpointList('listTrustedPublishers', {
    description: 'List the CI jobs that may publish your skills, or those of an organisation, without a key.',
    words: { '[OWNER]': 'owner' },
    actor,
    rows: 'publishers',
    toLines: (one) => [`${one.id}  ${one.target}`, ...toClaimLines(one)],
  }),
  'trust add': apiCommand({
    description: 'Let CI jobs publish a skill (OWNER/NAME, also a new one), or all skills of an owner, without a key.',
    words: ['TARGET', 'CLAIM=VALUE,...'],
    options: {
      issuer: {
        value: 'URL',
        help: `${Object.keys(ciServices).join(', ')}, or the address that issues the tokens. Default: github`,
      },
    },
    actor,
    async call(api, given) {
      const [target, claims] = given.words
      const issuer = textOption(given, 'issuer') ?? 'github'
      return api.putTrustedPublisher({
        target,
        issuer: services.get(issuer)?.issuer ?? issuer,
        claims: readClaims(claims),
      })
    },
    show: (one) => [`Jobs with these claims may publish ${one.target}:`, ...toClaimLines(one)],
  }),
  'trust remove': endpointCommand('deleteTrustedPublisher', {
    description: 'Let CI jobs publish no longer; keys that they were given end at once.',
    words: { ID: 'id' },
    actor,
    toResult: (_none, { id }) => ({ removed: id }),
    show: ({ removed }) => [`Removed ${removed}.`],
  }),
}

function readClaims(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1)
      throw new UsageError(`'${pair}' is not a claim. Use the form repository=acme/skills,ref=refs/heads/main.`)
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const
  })
  return Object.fromEntries(pairs)
}

function toClaimLines({ issuer, claims }: Pick<TrustedPublisher, 'issuer' | 'claims'>): string[] {
  return [`  issuer: ${issuer}`, ...Object.entries(claims).map(([name, value]) => `  ${name}: ${value}`)]
}
