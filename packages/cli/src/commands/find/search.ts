import { basename, isAbsolute, normalize, relative } from 'node:path'
import { limits, skillClients, toOneLine, type endpoints, type Input, type SearchResult } from '@skillstead/protocol'
import { toSearchName } from '@skillstead/protocol/wire'
import { textOption, UsageError, type Arguments } from '../../command/command.ts'
import { listOption } from '../../command/values.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { toScoreVerdict } from '../../scan/verdict.ts'
import { readStandardInput } from '../../terminal/read-input.ts'
import { styled, verdictStyles, type Line } from '../../terminal/style.ts'

const sorts = ['downloads', 'recent', 'stars', 'effect'] as const

export const commands = {
  search: apiCommand({
    description: 'Search skills, best match first.',
    words: ['[QUERY...]'],
    options: {
      need: { value: 'TEXT', help: 'a description of the task, instead of QUERY; - reads it from standard input' },
      files: { value: 'LIST', help: 'paths in your project; close matches that fit them come first' },
      languages: { value: 'LIST', help: 'languages of your project, with the same effect' },
      installed: { value: 'LIST', help: 'skills that you have, with the same effect' },
      limit: { value: 'N', help: 'the number of skills to show, at most 100. Default: 20' },
      page: { value: 'N', help: 'the page to show. Default: 1' },
      sort: { value: 'SORT', help: 'the order. Default: by relevance', choices: sorts },
      category: { value: 'NAME', help: 'only skills of this category' },
      client: {
        value: 'NAME',
        help: 'only skills that this client loads without a problem',
        choices: skillClients.map(({ id }) => id),
      },
    },
    async call(api, given) {
      const q = await readQuery(given)
      const sort = textOption<(typeof sorts)[number]>(given, 'sort')
      const [limit, page, category, client] = ['limit', 'page', 'category', 'client'].map((name) =>
        textOption(given, name),
      )
      const input = { q, limit, page, category, client, sort, context: toContext(given), explain: q !== '' }
      return api[toSearchName(input)](input)
    },
    show({ skills, total, partial, estimated }) {
      const lines = skills.flatMap((skill) => [
        styled(
          'heading',
          `${toOneLine(`${skill.fullName}@${skill.latestVersion}`)}  ↓${skill.downloads} ★${skill.stars}`,
        ),
        `  ${shortenDescription(skill.description)}`,
        ...toPassageLines(skill),
        ...toMarks(skill),
      ])
      const shown =
        total === skills.length ? `${total} found.` : `${skills.length} of ${estimated ? 'about ' : ''}${total} shown.`
      return [...lines, shown, ...(partial ? ['Some words were left out, because the query is long or costly.'] : [])]
    },
  }),
}

/** Reads the text to search for, from QUERY or --need. Throws {@link UsageError} for none or both. */
async function readQuery({ words, options, io }: Arguments<readonly string[]>): Promise<string> {
  const need = options['need']
  if ((words.length === 0) === (need === undefined)) throw new UsageError('Pass either QUERY or --need TEXT.')
  const typed = need === '-' ? await readNeed(io) : `${need ?? words.join(' ')}`
  // Only `search ''` lists every skill; an empty text of --need is a mistake.
  if (need !== undefined && typed.trim() === '')
    throw new UsageError('The text of --need is empty. Describe the skill that you need.')
  return typed.trim()
}

/**
 * Reads a described need from standard input. The limit is doubled, because white space around the text does not count.
 */
async function readNeed(io: Arguments['io']): Promise<string> {
  const charactersMax = 2 * limits.needCharactersMax
  const typed = await readStandardInput(io, charactersMax)
  if (typed.length <= charactersMax) return typed
  throw new UsageError(
    `Standard input is too long. Describe the need in at most ${limits.needCharactersMax} characters.`,
  )
}

/**
 * The context from the options; undefined without such options. File paths become relative, because absolute paths
 * would reveal details of this machine to the registry.
 */
function toContext(given: Arguments<readonly string[]>): SearchContext | undefined {
  const [files, languages, installed] = ['files', 'languages', 'installed'].map((name) => listOption(given, name))
  if (!files && !languages && !installed) return undefined
  return { files: files?.map(toProjectPath), languages, installed }
}

function toProjectPath(file: string): string {
  const path = isAbsolute(file) ? relative(process.cwd(), file) : normalize(file)
  return path.startsWith('..') || isAbsolute(path) ? basename(path) : path
}

type SearchContext = Input<(typeof endpoints)['searchByNeed']>['context']

/** The part of SKILL.md that answers the query, unless the description already contains that part. */
function toPassageLines({ description, match }: SearchResult['skills'][number]): Line[] {
  const passage = match?.passage && toOneLine(match.passage)
  return !passage || description.includes(passage) ? [] : [styled('faint', `  “${passage}”`)]
}

/** What a user should know before an install: a bad verdict, a deprecation, the effect in evaluations. */
function toMarks({ securityScore, deprecated, effectLow }: SearchResult['skills'][number]): Line[] {
  const verdict = toScoreVerdict(securityScore)
  return [
    ...(verdict === 'safe' ? [] : [styled(verdictStyles[verdict], `  scan: ${verdict}, ${securityScore} of 100`)]),
    ...(deprecated ? [styled('warning', '  deprecated')] : []),
    ...(effectLow === undefined ? [] : [toEffectLine(effectLow)]),
  ]
}

function toEffectLine(effectLow: number): Line {
  const points = Math.round(effectLow * 100)
  if (points > 0) return `  evaluations: at least ${points} points better than without the skill`
  return styled('faint', '  evaluations: no benefit shown')
}

function shortenDescription(description: string): string {
  const line = toOneLine(description)
  return line.length > 110 ? `${line.slice(0, 109)}…` : line
}
