import { type Policy, type PolicyRefusal, type RegistryApi } from '@skillstead/protocol'
import { openFolder, type SkillRecord, toPublishFile } from '@skillstead/skill-format/archives'
import { textOption, UsageError } from '../../command/command.ts'
import { toSkillLine } from '../../plugin/plugin-lines.ts'
import { findWaits, publishEach } from '../../plugin/publish-plugin.ts'
import type { Output } from '../../terminal/output.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { readJsonFile } from '../../verify/read-record.ts'

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
    description:
      'List the stored skills of an organisation that break its policy, or one that you did not set yet; with --folder, the skills of a folder that would be refused.',
    words: ['NAME'],
    options: {
      policy: { value: 'FILE', help: 'a JSON file with the policy. Default: the one that is set' },
      folder: { value: 'FOLDER', help: 'test the skills of this folder. Nothing is stored' },
    },
    actor,
    async call(api, given, { say }): Promise<Tested> {
      const [organisation] = given.words
      const [file, folder] = [textOption(given, 'policy'), textOption(given, 'folder')]
      if (folder === undefined)
        return api.testPolicy({ organisation, ...(file !== undefined && { policy: readPolicy(file) }) })
      if (file !== undefined)
        throw new UsageError('Pass --policy or --folder, not both: --folder tests against the stored policy.')
      return testFolder(api, { organisation, folder, say })
    },
    hasFailed: (result) => 'folder' in result && result.refused > 0,
    show: (result) => ('folder' in result ? toFolderLines(result) : toTestLines(result)),
  }),
}

type Tested = Awaited<ReturnType<RegistryApi['testPolicy']>> | Awaited<ReturnType<typeof testFolder>>

function toTestLines({ skills, tested }: Awaited<ReturnType<RegistryApi['testPolicy']>>): string[] {
  return [
    ...skills.flatMap(({ fullName, version, refusals }) => [`${fullName}@${version}`, ...refusals.map(toRefusalLine)]),
    `${skills.length} of ${tested} would be refused.`,
  ]
}

/** Reports what a publish of each skill of a folder for the organisation would do. */
async function testFolder(
  api: RegistryApi,
  { organisation, folder, say }: { organisation: string; folder: string; say: Output['say'] },
) {
  const skills = []
  const publish = async ({ skillMd, files, omitted, changed }: SkillRecord) => {
    const content = { skillMd, files: files.map(toPublishFile) }
    const { skill, version, warnings, created } = await api.publishSkill({
      ...content,
      owner: organisation,
      dryRun: true,
    })
    const waits = findWaits(warnings)
    const { fullName, visibility } = skill
    const outcome = { fullName, visibility, version: version.version, quarantined: waits.length > 0 }
    return {
      ...outcome,
      created,
      omitted: omitted ?? [],
      changed: changed ?? [],
      waits: waits.map(({ message }) => message),
    }
  }
  for await (const { published, ...skill } of publishEach(openFolder(folder).items, { publish, say }))
    skills.push({ ...skill, waits: published?.waits ?? [] })
  if (skills.length === 0) throw new Error(`${folder} contains no SKILL.md. Pass a folder of skills.`)
  return { folder, skills, refused: skills.filter(({ status }) => status === 'refused').length }
}

function toFolderLines({ skills, refused }: Awaited<ReturnType<typeof testFolder>>): string[] {
  return [
    ...skills.flatMap((skill) => [toSkillLine(skill, true), ...skill.waits.map((message) => `    ${message}`)]),
    `${refused} of ${skills.length} would be refused.`,
  ]
}

function isSkill(name: string): boolean {
  return name.includes('/')
}

/** Reads a policy from a file; the registry validates it. */
function readPolicy(file: string): Policy {
  return readJsonFile(file).value as Policy
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
