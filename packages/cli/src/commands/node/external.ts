import {
  verdictWords,
  limits,
  type ExternalSkill,
  type RegistryApi,
  type ScanReport,
  toOneLine,
  isRegistryError,
} from '@skillstead/protocol'
import { readFileSync } from 'node:fs'
import { command } from '../../command/command.ts'
import { readWholeInput } from '../../command/read-whole-input.ts'
import { readExternalList, type ListedSkill } from '../../import/external-list.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { endpointCommand, endpointList } from '../../registry/endpoint-command.ts'
import { placeOptions, withApi } from '../../registry/place.ts'
import { toShortFindingLines } from '../../scan/verdict.ts'
import { styled, verdictStyles } from '../../terminal/style.ts'

export const commands = {
  'external list': endpointList('listExternal', {
    description: 'List the indexed skills of other registries, most installed first.',
    options: {
      registry: {
        value: 'NAME',
        help: 'only skills of this registry. Default: all',
        choices: ['all', 'github', 'skills.sh'],
      },
      verified: { help: 'only scanned skills, with any verdict' },
    },
    rows: 'externalSkills',
    toLines: (skill) =>
      `${skill.id}  ${toOneLine(skill.name)}  ${skill.installs} installs  ${toMark(skill)}  ${skill.url}`,
  }),
  'external add': endpointCommand('addExternal', {
    description: 'Index a skill of another registry; a running node scans it.',
    words: { URL: 'url' },
    options: {
      name: { value: 'NAME', help: "the name. Default: the skill's own name" },
      description: { value: 'TEXT', help: "the description. Default: the skill's own description" },
      author: { value: 'NAME', help: 'the author. Default: the account that the URL names' },
      installs: { value: 'N', help: 'the known number of installs' },
    },
    make: true,
    show: (skill) => [`${toOneLine(skill.name)} is indexed as ${skill.id}: ${skill.url}`],
  }),
  'external import': command({
    description: 'Index a list of skills of other registries: one URL per line, or JSON records.',
    words: ['FILE'],
    options: placeOptions,
    async run(given) {
      const list = readExternalList(readFileSync(given.words[0], 'utf8'))
      if (list.length === 0) throw new Error(`${given.words[0]} lists no skills. Write one URL per line.`)
      return withApi(given, (api) => addListedSkills(api, list), { make: true })
    },
    show: ({ added, failed }) => [
      ...failed.map(({ line, reason }) => `  line ${line}: ${reason}`),
      `${added} indexed, ${failed.length} refused.`,
    ],
    hasFailed: ({ failed }) => failed.length > 0,
  }),
  'external scan': apiCommand({
    description: 'Scan a skill at a URL, or text from standard input.',
    words: ['URL|-'],
    async call(api, { words: [url], io }) {
      return (await api.scanExternal(
        url === '-' ? { content: await readWholeInput(io, limits.fileBytesMax, 'a file') } : { url },
      )) as ScanReport
    },
    show: ({ source, verdict, score, findings }) => [
      ...findings.flatMap(toShortFindingLines),
      styled(verdictStyles[verdict], `${source}: ${verdictWords[verdict]}, ${score} of 100.`),
    ],
  }),
  'external remove': endpointCommand('deleteExternal', {
    description: 'Remove a skill of another registry from the index.',
    words: { ID: 'id' },
    toResult: (_, { id }) => ({ removed: id }),
    show: ({ removed }) => [`Removed ${removed}.`],
  }),
}

/** The result of importing a list. */
interface ListResult {
  readonly added: number
  readonly failed: readonly { line: number; reason: string }[]
}

/** Adds the skills one by one. A rejected skill does not stop the import; an error of the node does. */
async function addListedSkills(api: RegistryApi, list: readonly ListedSkill[]): Promise<ListResult> {
  const failed: { line: number; reason: string }[] = []
  for (const { line, ...entry } of list) {
    if ('reason' in entry) {
      failed.push({ line, reason: entry.reason })
      continue
    }
    try {
      await api.addExternal(entry.skill)
    } catch (error) {
      if (!isRegistryError(error, 'invalid_request')) throw error
      failed.push({ line, reason: error.message })
    }
  }
  return { added: list.length - failed.length, failed }
}

function toMark({ verdict, securityScore }: ExternalSkill): string {
  return verdict === null ? 'not scanned' : `${verdictWords[verdict]} (${securityScore})`
}
