import type { SimilarityMatch } from '@skillstead/protocol'
import { addresses, toAddress } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { Badge, Time } from '../../ui/parts.tsx'
import { ForkForm, ForkTree } from './forks.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'
import { ItemList } from '../../ui/page.tsx'

/** Skills with similar text, and the forks. */
export function SimilarTab({ shown }: { shown: ShownSkill }) {
  const { name } = shown
  const found = useData(['skill', name, 'similarity'], () => api.getSimilarity({ name }))
  return (
    <>
      <h2>Forks</h2>
      <ForkTree shown={shown} />
      <ForkForm shown={shown} />
      <h2>Similar skills</h2>
      <ItemList
        of={found}
        items={({ matches }) => matches}
        empty="No other skill that you can see shares much text with this one."
      >
        {(match) => <Match key={match.skill.id} shown={shown} match={match} />}
      </ItemList>
      {found.data && (
        <p class="hint">
          Compared <Time at={found.data.scannedAt} />. Above 40% people usually call it a copy.{' '}
          <a href={toTab(shown, 'report')}>Report a copy</a>
        </p>
      )}
    </>
  )
}

const kinds = { exact: 'word for word', near: 'nearly the same text', partial: 'a part of the text' }
const relations = { fork: 'related as a fork', 'same-owner': 'of the same owner' }

function Match({ shown, match }: { shown: ShownSkill; match: SimilarityMatch }) {
  const { skill, similarity, kind, publishedFirst, related, passages } = match
  return (
    <li>
      <h3>
        <a href={toAddress(addresses.skill(skill.fullName), { version: skill.version })}>
          <bdi>{skill.fullName}</bdi> {skill.version}
        </a>
      </h3>
      <p class="facts">
        <Badge tone={similarity >= 0.4 && !related ? 'fair' : 'plain'}>{Math.round(similarity * 100)}% alike</Badge>
        <span>{kinds[kind]}</span>
        {related && <span>{relations[related]}</span>}
        <span>{publishedFirst ? 'published first' : 'published later'}</span>
      </p>
      {passages.length > 0 && (
        <details>
          <summary>{passages.length === 1 ? 'The passage' : `The ${passages.length} longest passages`}</summary>
          {passages.map(({ text, line, otherLine }) => (
            <figure key={`${line} ${otherLine}`} class="shared">
              <blockquote dir="auto">{text}</blockquote>
              <figcaption class="hint">
                <a href={toTab(shown, 'files', { path: 'SKILL.md', line: `${line}` })}>Line {line} here</a>,{' '}
                <a
                  href={toAddress(addresses.skill(skill.fullName, 'files'), {
                    version: skill.version,
                    path: 'SKILL.md',
                    line: `${otherLine}`,
                  })}
                >
                  line {otherLine} there
                </a>
              </figcaption>
            </figure>
          ))}
        </details>
      )}
    </li>
  )
}
