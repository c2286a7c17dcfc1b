import { toEffectText, toOneLine, toRateText, type SkillDetails, verdictWords, toShortName } from '@skillstead/protocol'
import { findNewestRecall } from '../../install/recall-text.ts'
import { endpointCommand } from '../../registry/endpoint-command.ts'
import { toVerdictText } from '@skillstead/scanner'
import { toChangeLines, toChangeText } from '../../scan/change.ts'
import { toShortFindingLines } from '../../scan/verdict.ts'
import { toCount, toFactLines } from '../../terminal/output.ts'
import { styled, verdictStyles, type Line } from '../../terminal/style.ts'

export const commands = {
  show: endpointCommand('getSkill', {
    description: 'Show a skill: `owner/name`, or a short name.',
    words: { NAME: 'name' },
    options: { version: { value: 'VERSION', help: 'the version to show. Default: the latest' } },
    show(skill) {
      // Without a latest version, the response describes no version, so the newest recall is shown instead.
      const recalled =
        skill.recalled ?? (skill.latestVersion === '' ? findNewestRecall(skill.versions)?.recalled : undefined)
      const facts: [string, string][] = [
        ['version', skill.latestVersion],
        ['published', skill.publishedAt],
        ['license', skill.license],
        ['category', skill.category],
        ['keywords', skill.keywords.join(', ')],
        ['visibility', skill.visibility],
        ['downloads', `${skill.downloads}, ${skill.stars} stars, ${skill.forks} forks`],
        ['digest', skill.digest ?? ''],
        ['recalled', recalled ? `${recalled.range}: ${recalled.reason}` : ''],
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
        ...toEvaluationLines(skill.evaluations),
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

function toEvaluationLines(evaluations: SkillDetails['evaluations']): Line[] {
  if (!evaluations) return []
  const { voices, byOwner, models, signedBy = [], withSkill, withoutSkill, effect, comparedTo, change } = evaluations
  const owners = byOwner === 0 ? '' : `, ${byOwner === voices ? 'all' : byOwner} by the owner`
  const mark = change === 'better' || change === 'worse' ? `, ${change} than ${comparedTo}` : ''
  const heading = `  ${'evaluations'.padEnd(11)} ${toCount(voices, 'user')}${owners}${mark}`
  const rates: [string, string][] = [
    ['models', models.join(', ')],
    ['with', toRateText(withSkill)],
    ['without', withoutSkill ? toRateText(withoutSkill) : 'not measured'],
    ['effect', effect ? toEffectText(effect) : ''],
    ['signed by', signedBy.map((fingerprint) => `key ${fingerprint}`).join(', ')],
  ]
  return [
    change === 'worse' ? styled('warning', heading) : heading,
    ...toFactLines(rates, 9).map((line) => `  ${line}`),
  ]
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
