import type { Provenance, SimilarityMatch } from '@skillstead/protocol'
import type { ComponentChildren } from 'preact'
import { addresses, toAddress } from '../../addresses.ts'
import { api } from '../../api.ts'
import { Badge, NameLink, Time, toCount } from '../../ui/parts.tsx'
import { toTab, type ShownSkill, toShortName } from './shown-skill.ts'
import { VersionLink } from '../../ui/skill-list.tsx'
import { Shown, usePaged, Pager } from '../../ui/page.tsx'
import { useLocation } from 'preact-iso'
import { useMe } from '../../session.ts'
import { Field, Form } from '../../ui/form.tsx'

/**
 * What is related to the skill: skills that require it, packs with it, its forks, and skills with similar text. The
 * parts appear together, when all are loaded.
 */
export function SimilarTab({ shown }: { shown: ShownSkill }) {
  const { name, version, skill } = shown
  const found = usePaged(['skill', name, 'related', version], async (page) => {
    const [forks, dependents, packs, similarity, record] = await Promise.all([
      api.listForks({ name, page }),
      api.listDependents({ name, limit: listedMax }),
      api.listPacks({ skill: name, limit: listedMax }),
      api.getSimilarity({ name }),
      skill.forkedFrom && version ? api.getProvenance({ name, version }) : undefined,
    ])
    return { ancestors: (record?.forkChain ?? []).slice(0, 20), forks, dependents, packs, ...similarity }
  })
  return (
    <Shown of={found}>
      {({ ancestors, forks, dependents, packs, matches, scannedAt }) => (
        <>
          {dependents.total > 0 && (
            <>
              <Counted title="Required by" count={dependents.total} unit="skill" />
              <Links total={dependents.total}>
                {dependents.skills.map(({ fullName, range }) => (
                  <li key={fullName}>
                    <NameLink href={addresses.skill(fullName)} name={fullName} /> {range !== '*' && range}
                  </li>
                ))}
              </Links>
            </>
          )}
          <Counted title="Used by" count={packs.total} unit="pack" />
          {packs.total === 0 && <p>No pack that you can see has it.</p>}
          <Links total={packs.total}>
            {packs.packs.map((pack) => (
              <li key={pack.slug}>
                <NameLink href={addresses.pack(pack.slug)} name={pack.name} />
              </li>
            ))}
          </Links>
          <Counted title="Forks" count={forks.total} unit="fork" />
          {ancestors.length === 0 && forks.total === 0 ? (
            <p>This skill is not a fork and has no forks.</p>
          ) : (
            <Branch ancestors={ancestors.toReversed()}>
              <strong>
                <bdi>{name}</bdi>
              </strong>{' '}
              <span class="faint">this one, {toCount(forks.total, 'fork')}</span>
              {forks.skills.length > 0 && (
                <ul>
                  {forks.skills.map((fork) => (
                    <li key={fork.id}>
                      <NameLink href={addresses.skill(fork.fullName)} name={fork.fullName} />{' '}
                      <Time at={fork.publishedAt} faint />
                    </li>
                  ))}
                </ul>
              )}
            </Branch>
          )}
          <Pager totalPages={forks.totalPages} />
          <ForkForm shown={shown} />
          <Counted title="Similar skills" count={matches.length} unit="skill" />
          {matches.length === 0 && <p>No other skill that you can see shares much text with this one.</p>}
          <ul class="plain">
            {matches.map((match) => (
              <Match key={match.skill.id} shown={shown} match={match} />
            ))}
          </ul>
          <p class="hint">
            Compared <Time at={scannedAt} />. Above 40% people usually call it a copy.{' '}
            <a href={toTab(shown, 'report')}>Report a copy</a>
          </p>
        </>
      )}
    </Shown>
  )
}

/** Maximum number of skills that require the shown skill, and of packs with it, that are listed. */
const listedMax = 50

const Links = ({ total, children }: { total: number; children: ComponentChildren }) => (
  <ul class="words">
    {children}
    {total > listedMax && <li>and {(total - listedMax).toLocaleString('en')} more</li>}
  </ul>
)

const Counted = ({ title, count, unit }: { title: string; count: number; unit: string }) => (
  <h2>
    {title} <span class="faint">{toCount(count, unit)}</span>
  </h2>
)

const kinds = { exact: 'word for word', near: 'nearly the same text', partial: 'a part of the text' }
const relations = { fork: 'related as a fork', 'same-owner': 'of the same owner' }

const toLine = (line: number) => ({ path: 'SKILL.md', line: `${line}` })

function Match({ shown, match }: { shown: ShownSkill; match: SimilarityMatch }) {
  const { similarity, kind, publishedFirst, related, passages } = match
  const { fullName, version } = match.skill
  return (
    <li>
      <h3>
        <VersionLink fullName={fullName} version={version} />
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
                <a href={toTab(shown, 'files', toLine(line))}>Line {line} here</a>,{' '}
                <a href={toAddress(addresses.skill(fullName, 'files'), { version, ...toLine(otherLine) })}>
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

/** Nested lists: the oldest ancestor outermost, then this skill, then its forks. */
function Branch(props: { ancestors: Provenance['forkChain']; children: ComponentChildren; inner?: boolean }) {
  const [oldest, ...rest] = props.ancestors
  return (
    <ul class={props.inner ? '' : 'tree'}>
      <li>
        {oldest ? (
          <>
            <VersionLink {...oldest} />
            <Branch ancestors={rest} inner>
              {props.children}
            </Branch>
          </>
        ) : (
          props.children
        )}
      </li>
    </ul>
  )
}

/** Forks the latest version to the user's account. */
function ForkForm({ shown: { skill, name } }: { shown: ShownSkill }) {
  const me = useMe()
  const { route } = useLocation()
  const fork = async ({ newName = '' }) => {
    const { fullName } = await api.forkSkill({ name, newName: newName.trim() || undefined })
    route(addresses.skill(fullName))
  }
  if (!me || !skill.latestVersion || skill.stub) return null
  return (
    <Form card="Fork this skill" work={fork} submit="Fork it">
      <Field label="Name of your fork" name="newName" defaultValue={toShortName(skill)} maxLength={64} required>
        Version {skill.latestVersion} is copied to {me.username}/…, with a link to its origin.
      </Field>
    </Form>
  )
}
