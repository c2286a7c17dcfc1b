import { readFileSync } from 'node:fs'
import { text as readAll } from 'node:stream/consumers'
import { RegistryError, type ExternalSkill, type RegistryApi, type ScanReport } from '@skillstead/protocol'
import { choice, flag, text, type Command } from '../command.ts'
import { readExternalList, type ListedSkill } from '../import/external-list.ts'
import { placeOptions, withApi } from '../place.ts'
import { toShortFindingLines } from '../scan/verdict.ts'
import { styled, verdictStyles } from '../style.ts'

const registries = ['all', 'github', 'skills.sh'] as const

/** `skillstead external list`. */
export const listExternal: Command<{ externalSkills: ExternalSkill[]; total: number }> = {
  summary: 'List the indexed skills of other registries, most installed first.',
  words: [],
  options: {
    registry: { value: 'NAME', help: 'only github or only skills.sh' },
    verified: { help: 'only scanned skills, with any verdict' },
    page: { value: 'N', help: 'the page, of 100 rows each. Default: 1' },
    ...placeOptions,
  },
  run(given) {
    const registry = choice(text(given, 'registry'), registries, 'registry')
    const verified = flag(given, 'verified') || undefined
    return withApi(given, (api) => api.listExternal({ registry, verified, limit: 100, page: text(given, 'page') }))
  },
  show: ({ externalSkills, total }) => [
    ...externalSkills.map(
      (skill) => `${skill.id}  ${toLine(skill.name)}  ${skill.installs} installs  ${toMark(skill)}  ${skill.url}`,
    ),
    `${externalSkills.length} of ${total}.`,
  ],
}

/** `skillstead external add URL`. */
export const addExternal: Command<ExternalSkill> = {
  summary: 'Index a skill of another registry; a running node scans it.',
  words: ['URL'],
  options: {
    name: { value: 'NAME', help: "the name. Default: the skill's own name" },
    description: { value: 'TEXT', help: "the description. Default: the skill's own description" },
    author: { value: 'NAME', help: 'the author. Default: the account that the URL names' },
    installs: { value: 'N', help: 'the known number of installs' },
    ...placeOptions,
  },
  run(given) {
    const { name, description, author, installs } = given.options as Record<string, string | undefined>
    const input = { url: given.words[0]!, name, description, author, installs }
    return withApi(given, (api) => api.addExternal(input), { make: true })
  },
  show: (skill) => [`${toLine(skill.name)} is indexed as ${skill.id}: ${skill.url}`],
}

/** The result of importing a list. */
interface ListResult {
  readonly added: number
  readonly failed: readonly { line: number; reason: string }[]
}

/** `skillstead external import FILE`. */
export const importExternal: Command<ListResult> = {
  summary: 'Index a list of skills of other registries: one URL per line, or JSON records.',
  words: ['FILE'],
  options: placeOptions,
  run(given) {
    const list = readExternalList(readFileSync(given.words[0]!, 'utf8'))
    if (list.length === 0) throw new Error(`${given.words[0]} lists no skills.`)
    return withApi(given, (api) => addAll(api, list), { make: true })
  },
  show: ({ added, failed }) => [
    ...failed.map(({ line, reason }) => `  line ${line}: ${reason}`),
    `${added} indexed, ${failed.length} refused.`,
  ],
  hasFailed: ({ failed }) => failed.length > 0,
}

/** `skillstead external scan URL`. */
export const scanExternal: Command<ScanReport> = {
  summary: 'Scan a skill at a URL, or text from standard input.',
  words: ['URL|-'],
  options: placeOptions,
  async run(given) {
    const [url] = given.words as [string]
    const input = url === '-' ? { content: await readAll(given.io.stdin) } : { url }
    return (await withApi(given, (api) => api.scanExternal(input))) as ScanReport
  },
  show: ({ source, verdict, score, findings }) => [
    ...findings.flatMap(toShortFindingLines),
    styled(verdictStyles[verdict], `${source}: ${verdict}, ${score} of 100.`),
  ],
}

/** `skillstead external remove ID`. */
export const removeExternal: Command<{ removed: string }> = {
  summary: 'Remove a skill of another registry from the index.',
  words: ['ID'],
  options: placeOptions,
  async run(given) {
    const [id] = given.words as [string]
    await withApi(given, (api) => api.deleteExternal({ id }))
    return { removed: id }
  },
  show: ({ removed }) => [`Removed ${removed}.`],
}

/** Adds the skills one by one. A rejected skill does not stop the rest; a failing node does. */
async function addAll(api: RegistryApi, list: readonly ListedSkill[]): Promise<ListResult> {
  const failed: { line: number; reason: string }[] = []
  for (const { line, ...entry } of list) {
    if ('reason' in entry) {
      failed.push({ line, reason: entry.reason })
      continue
    }
    try {
      await api.addExternal(entry.skill)
    } catch (error) {
      if (!(error instanceof RegistryError && error.code === 'invalid_request')) throw error
      failed.push({ line, reason: error.message })
    }
  }
  return { added: list.length - failed.length, failed }
}

function toMark({ verdict, securityScore }: ExternalSkill): string {
  return verdict === null ? 'not scanned' : `${verdict} (${securityScore})`
}

/** Untrusted text without terminal control characters. */
function toLine(words: string): string {
  return words.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
}
