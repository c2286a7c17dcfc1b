import type { SkillDetails } from '@skillstead/protocol'
import { text, type Command } from '../command.ts'
import { toShortName } from '../install/lock.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'
import { toShortFindingLines, toVerdict } from '../scan/verdict.ts'
import { styled, verdictStyles, type Line } from '../style.ts'

/** `skillstead show NAME`. */
export const show: Command<SkillDetails> = {
  summary: 'Show a skill: `owner/name`, or a short name.',
  words: ['NAME'],
  options: { version: { value: 'VERSION', help: 'the version to show. Default: the latest' }, ...placeOptions },
  run: (given) => withApi(given, (api) => api.getSkill({ name: given.words[0]!, version: text(given, 'version') })),
  show(skill) {
    const facts = [
      ['version', skill.latestVersion],
      ['published', skill.publishedAt],
      ['license', skill.license],
      ['category', skill.category],
      ['keywords', skill.keywords.join(', ')],
      ['visibility', skill.visibility],
      ['downloads', `${skill.downloads}, ${skill.stars} stars, ${skill.forks} forks`],
      ['digest', skill.digest ?? ''],
      ['deprecated', skill.deprecated ? skill.deprecationMessage || 'yes' : ''],
    ]
    const title = skill.displayName === toShortName(skill.fullName) ? '' : ` (${toOneLine(skill.displayName)})`
    return [
      styled('heading', toOneLine(skill.fullName) + title),
      `  ${toOneLine(skill.description)}`,
      ...facts.filter(([, value]) => value !== '').map(([name, value]) => `  ${name!.padEnd(11)} ${toOneLine(value!)}`),
      `  ${'files'.padEnd(11)} ${skill.files.map(({ path }) => toOneLine(path)).join(', ')}`,
      `  ${'versions'.padEnd(11)} ${toOneLine(skill.versions.map(({ version, yanked }) => version + (yanked ? ' (yanked)' : '')).join(', '))}`,
      ...toSecurityLines(skill.security),
    ]
  },
}

function toSecurityLines(security: SkillDetails['security']): Line[] {
  if (!security) return []
  const heading = `  ${'security'.padEnd(11)} ${toVerdict(security)}`
  return [styled(verdictStyles[security.verdict], heading), ...security.findings.flatMap(toShortFindingLines)]
}
