import { toOneLine, toPlainText } from '@skillstead/protocol'
import { loadLevels, type LoadedSkill } from '@skillstead/skill-format/loading'
import { UsageError, flag, textOption } from '../../command/command.ts'
import { parseSkillWord } from '../../command/values.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { toFactLines } from '../../terminal/output.ts'

export const commands = {
  load: apiCommand({
    description: 'Load a skill, or part of it, for an agent, within a token budget.',
    words: ['NAME'],
    options: {
      level: { value: 'LEVEL', help: 'how much to load. Default: full', choices: loadLevels },
      version: { value: 'VERSION', help: 'the version; NAME@VERSION means the same. Default: the latest' },
      'allow-recalled': {
        help: 'load a recalled version in spite of its recall; name it exactly, as owner/name@1.2.3',
      },
      'max-tokens': { value: 'N', help: 'the maximum size of the result as JSON, in tokens (o200k_base)' },
      priority: { value: 'HEADINGS', help: 'the sections to include first: their headings, separated by commas' },
    },
    async call(api, given, output) {
      const word = parseSkillWord(given.words[0])
      const version = textOption(given, 'version') ?? word.version
      const allowRecalled = flag(given, 'allow-recalled')
      if (allowRecalled && (version ?? 'latest') === 'latest')
        throw new UsageError('--allow-recalled needs the exact version that you want, as owner/name@1.2.3.')
      const skill = await api.loadSkill({
        name: word.name,
        level: textOption<LoadedSkill['level']>(given, 'level'),
        version,
        allowRecalled,
        maxTokens: textOption(given, 'max-tokens'),
        priority: textOption(given, 'priority'),
      })
      if (skill.truncated.length > 0) output.say(toOmissions(skill))
      return skill
    },
    show: (skill) => shown[skill.level](skill),
  }),
}

const shown: Record<LoadedSkill['level'], (skill: LoadedSkill) => string[]> = {
  metadata: (skill) => toLoadFacts(skill, []),
  contract: (skill) =>
    toLoadFacts(skill, [
      ['inputs', toContractText(skill.contract?.inputs)],
      ['outputs', toContractText(skill.contract?.outputs)],
      ['uses', skill.capabilities?.join(', ') ?? ''],
    ]),
  summary: ({ summary }) => [toPlainText(summary ?? '')],
  full: ({ fullContent }) => [toPlainText(fullContent ?? '').trimEnd()],
}

function toLoadFacts({ metadata }: LoadedSkill, more: [string, string][]): string[] {
  const { fullName, version, description, downloads, securityScore, verified, deprecated, keywords } = metadata
  const facts: [string, string][] = [
    ['downloads', String(downloads)],
    ['security', securityScore === null ? 'not scanned' : `${securityScore} of 100`],
    ['keywords', keywords.join(', ')],
    ...more,
  ]
  return [
    `${fullName}@${version}${verified ? ' (verified)' : ''}${deprecated ? ' (deprecated)' : ''}`,
    `  ${toOneLine(description)}`,
    ...toFactLines(facts),
  ]
}

function toContractText(value: unknown): string {
  return value === undefined || value === null ? 'not given' : JSON.stringify(value)
}

/** The list of omitted sections, for standard error, so that the text itself stays clean. */
function toOmissions({ truncated }: LoadedSkill): string {
  const sections = truncated.map(({ section, tokens }) => `${toOneLine(section) || 'the beginning'} (${tokens} tokens)`)
  return `Omitted: ${sections.join(', ')}.`
}
