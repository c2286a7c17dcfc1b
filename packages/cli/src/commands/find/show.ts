import { toOneLine, type SkillDetails, verdictWords } from '@skillstead/protocol'
import { toShortName } from '../../install/lock.ts'
import { endpointCommand } from '../../registry/endpoint-command.ts'
import { toVerdictText } from '@skillstead/scanner'
import { toChangeLines, toChangeText } from '../../scan/change.ts'
import { toShortFindingLines } from '../../scan/verdict.ts'
import { toFactLines } from '../../terminal/output.ts'
import { styled, verdictStyles, type Line } from '../../terminal/style.ts'

export const commands = {
  show: endpointCommand('getSkill', {
    description: 'Show a skill: `owner/name`, or a short name.',
    words: { NAME: 'name' },
    options: { version: { value: 'VERSION', help: 'the version to show. Default: the latest' } },
    show(skill) {
      const facts: [string, string][] = [
        ['version', skill.latestVersion],
        ['published', skill.publishedAt],
        ['license', skill.license],
        ['category', skill.category],
        ['keywords', skill.keywords.join(', ')],
        ['visibility', skill.visibility],
        ['downloads', `${skill.downloads}, ${skill.stars} stars, ${skill.forks} forks`],
        ['digest', skill.digest ?? ''],
        ['recalled', skill.recalled ? `${skill.recalled.range}: ${skill.recalled.reason}` : ''],
        ['deprecated', skill.deprecated ? skill.deprecationMessage || 'yes' : ''],
        ['files', skill.files.map(({ path }) => path).join(', ')],
        ['versions', skill.versions.map(toVersionWord).join(', ')],
      ]
      const title = skill.displayName === toShortName(skill.fullName) ? '' : ` (${toOneLine(skill.displayName)})`
      return [
        styled('heading', toOneLine(skill.fullName) + title),
        `  ${toOneLine(skill.description)}`,
        ...toFactLines(facts),
        ...toSecurityLines(skill.security),
        ...toLinesOfChange(skill.change),
        ...toOpinionLines(skill.opinion),
      ]
    },
  }),
}

function toVersionWord({ version, yanked, recalled }: SkillDetails['versions'][number]): string {
  return version + (recalled ? ' (recalled)' : yanked ? ' (yanked)' : '')
}

function toLinesOfChange(change: SkillDetails['change']): Line[] {
  if (!change) return []
  const heading = `  ${'change'.padEnd(11)} ${toChangeText(change)}`
  return [styled(verdictStyles[change.verdict], heading), ...toChangeLines(change).map((line) => `    ${line}`)]
}

function toOpinionLines(opinion: SkillDetails['opinion']): Line[] {
  if (!opinion) return []
  const heading = `  ${'opinion'.padEnd(11)} ${verdictWords[opinion.verdict]}, by ${toOneLine(opinion.source)}`
  return [
    styled(verdictStyles[opinion.verdict], heading),
    ...opinion.reasons.map((reason) => `    ${toOneLine(reason)}`),
  ]
}

function toSecurityLines(security: SkillDetails['security']): Line[] {
  if (!security) return []
  const heading = `  ${'security'.padEnd(11)} ${toVerdictText(security)}`
  return [styled(verdictStyles[security.verdict], heading), ...security.findings.flatMap(toShortFindingLines)]
}
