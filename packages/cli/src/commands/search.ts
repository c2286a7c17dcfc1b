import type { SearchResult } from '@skillstead/protocol'
import { UsageError, text, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'
import { toScoreVerdict } from '../scan/verdict.ts'
import { styled, verdictStyles, type Line } from '../style.ts'

const sorts = ['downloads', 'recent', 'stars'] as const

/** `skillstead search QUERY...`. */
export const search: Command<SearchResult> = {
  summary: 'Search skills, best match first.',
  words: ['QUERY...'],
  options: {
    limit: { value: 'N', help: 'the number of skills to show, at most 100. Default: 20' },
    page: { value: 'N', help: 'the page to show. Default: 1' },
    sort: { value: 'SORT', help: 'downloads, recent or stars. Default: by relevance' },
    category: { value: 'NAME', help: 'only skills of this category' },
    ...placeOptions,
  },
  async run(given) {
    const sort = sorts.find((name) => name === text(given, 'sort'))
    if (text(given, 'sort') !== undefined && !sort) throw new UsageError(`--sort must be one of ${sorts.join(', ')}.`)
    const { limit, page, category } = given.options as Record<string, string | undefined>
    return withApi(given, (api) => api.searchSkills({ q: given.words.join(' '), limit, page, category, sort }))
  },
  show({ skills, total }) {
    const lines = skills.flatMap((skill) => [
      styled(
        'heading',
        `${toOneLine(`${skill.fullName}@${skill.latestVersion}`)}  ↓${skill.downloads} ★${skill.stars}`,
      ),
      `  ${cut(skill.description)}`,
      ...toMarks(skill),
    ])
    return [...lines, total === skills.length ? `${total} found.` : `${skills.length} of ${total} shown.`]
  },
}

/** Warnings to see before an install. */
function toMarks({ securityScore, deprecated }: SearchResult['skills'][number]): Line[] {
  const verdict = toScoreVerdict(securityScore)
  return [
    ...(verdict === 'safe' ? [] : [styled(verdictStyles[verdict], `  scan: ${verdict}, ${securityScore} of 100`)]),
    ...(deprecated ? [styled('warning', '  deprecated')] : []),
  ]
}

function cut(description: string): string {
  const line = toOneLine(description)
  return line.length > 110 ? `${line.slice(0, 109)}…` : line
}
