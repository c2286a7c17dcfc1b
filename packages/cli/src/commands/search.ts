import type { SearchResult } from '@skillstead/protocol'
import { text } from '../command/command.ts'
import { apiCommand } from '../registry/api-command.ts'
import { toScoreVerdict } from '../scan/verdict.ts'
import { toOneLine } from '../terminal/output.ts'
import { styled, verdictStyles, type Line } from '../terminal/style.ts'

const sorts = ['downloads', 'recent', 'stars'] as const

export const commands = {
  search: apiCommand({
    description: 'Search skills, best match first.',
    words: ['QUERY...'],
    options: {
      limit: { value: 'N', help: 'the number of skills to show, at most 100. Default: 20' },
      page: { value: 'N', help: 'the page to show. Default: 1' },
      sort: { value: 'SORT', help: 'the order. Default: by relevance', choices: sorts },
      category: { value: 'NAME', help: 'only skills of this category' },
    },
    call(api, given) {
      const sort = text<(typeof sorts)[number]>(given, 'sort')
      const [limit, page, category] = ['limit', 'page', 'category'].map((name) => text(given, name))
      return api.searchSkills({ q: given.words.join(' '), limit, page, category, sort })
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
  }),
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
