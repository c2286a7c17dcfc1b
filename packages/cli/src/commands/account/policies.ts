import { readFileSync } from 'node:fs'
import { parseForeignJson, type Policy, type PolicyRefusal, type RegistryApi } from '@skillstead/protocol'
import { textOption } from '../../command/command.ts'
import { apiCommand } from '../../registry/api-command.ts'

const actor = 'administrator of the organisation'

export const commands = {
  'policy show': apiCommand({
    description: 'Show what an organisation, or a single skill (OWNER/NAME), demands of new versions.',
    words: ['NAME'],
    actor: 'member',
    async call(api, given) {
      const [name] = given.words
      return { name, ...(await (isSkill(name) ? api.getSkillPolicy({ name }) : api.getPolicy({ organisation: name }))) }
    },
    show: ({ name, policy }) => toPolicyLines(name, policy),
  }),
  'policy set': apiCommand({
    description:
      'Set what an organisation, or a single skill (OWNER/NAME), demands of new versions, from a JSON file; {} demands nothing.',
    words: ['NAME', 'FILE'],
    actor,
    async call(api, given) {
      const [name, file] = given.words
      const policy = readPolicy(file)
      const set = isSkill(name) ? api.setSkillPolicy({ name, policy }) : api.setPolicy({ organisation: name, policy })
      return { name, ...(await set) }
    },
    show: ({ name, policy }) => toPolicyLines(name, policy),
  }),
  'policy test': apiCommand({
    description: 'List the stored skills of an organisation that break its policy, or one that you did not set yet.',
    words: ['NAME'],
    options: { policy: { value: 'FILE', help: 'a JSON file with the policy. Default: the one that is set' } },
    actor,
    async call(api, given): Promise<Awaited<ReturnType<RegistryApi['testPolicy']>>> {
      const file = textOption(given, 'policy')
      return api.testPolicy({ organisation: given.words[0], ...(file !== undefined && { policy: readPolicy(file) }) })
    },
    show: ({ skills, tested }) => [
      ...skills.flatMap(({ fullName, version, refusals }) => [
        `${fullName}@${version}`,
        ...refusals.map(toRefusalLine),
      ]),
      `${skills.length} of ${tested} would be refused.`,
    ],
  }),
}

function isSkill(name: string): boolean {
  return name.includes('/')
}

/** The registry validates the policy. */
function readPolicy(file: string): Policy {
  return parseForeignJson(readFileSync(file, 'utf8')) as Policy
}

function toPolicyLines(name: string, policy: Policy): string[] {
  const demands = Object.entries(policy)
  if (demands.length === 0) return [`${name} demands nothing of new versions.`]
  return [
    `${name} demands of new versions:`,
    ...demands.map(([field, value]) => `  ${field}: ${JSON.stringify(value)}`),
  ]
}

function toRefusalLine({ message }: PolicyRefusal): string {
  return `  ${message}`
}
