import type { SkillDetails } from '@skillstead/protocol'
import { text, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'
import { toVerdict } from '../scan/verdict.ts'

/** `skillstead show NAME`. */
export const show: Command<SkillDetails> = {
  summary: 'Shows a skill: `owner/name`, or a short name.',
  words: ['NAME'],
  options: { version: { value: 'VERSION', help: 'as of this version' }, ...placeOptions },
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
      ['security', skill.security ? toVerdict(skill.security) : ''],
      ['deprecated', skill.deprecated ? skill.deprecationMessage || 'yes' : ''],
    ]
    return [
      toOneLine(skill.fullName) + (skill.displayName === skill.name ? '' : ` (${toOneLine(skill.displayName)})`),
      `  ${toOneLine(skill.description)}`,
      ...facts.filter(([, value]) => value !== '').map(([name, value]) => `  ${name!.padEnd(11)} ${toOneLine(value!)}`),
      `  ${'files'.padEnd(11)} ${skill.files.map(({ path }) => toOneLine(path)).join(', ')}`,
      `  ${'versions'.padEnd(11)} ${toOneLine(skill.versions.map(({ version, yanked }) => version + (yanked ? ' (yanked)' : '')).join(', '))}`,
    ]
  },
}
