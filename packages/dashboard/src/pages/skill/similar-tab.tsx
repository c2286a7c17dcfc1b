import type { Provenance, SimilarityMatch } from '@skillstead/protocol'
import type { ComponentChildren } from 'preact'
import { addresses, toAddress } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { Badge, NameLink, Time, toCount } from '../../ui/parts.tsx'
import { toTab, type ShownSkill, toShortName } from './shown-skill.ts'
import { Shown, usePage, Pager } from '../../ui/page.tsx'
import { useLocation } from 'preact-iso'
import { useMe } from '../../session.ts'
import { Field, Form, useAction, type Fields } from '../../ui/form.tsx'

/**
 * What is related to the skill: skills that require it, packs with it, its forks, and skills with similar text. Shown at
 * once when all is known.
 */
export function SimilarTab({ shown }: { shown: ShownSkill }) {
  const { name } = shown
  const page = usePage()
  const found = useData(['skill', name, 'related', shown.version, page], async () => {
    const [tree, dependents, packs, similarity] = await Promise.all([
      readForkTree(shown, page),
      api.listDependents({ name, limit: listedMax }),
      api.listPacks({ skill: name, limit: listedMax }),
      api.getSimilarity({ name }),
    ])
    return { tree, dependents, packs, similarity }
  })
  return (
    <Shown of={found}>
      {({ tree, dependents, packs, similarity: { matches, scannedAt } }) => (
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
          <Counted title="Forks" count={tree.forks.total} unit="fork" />
          <ForkTree shown={shown} tree={tree} />
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

/** Maximum number of skills that require it, and of packs with it, that are listed. */
const listedMax = 50

function Links({ total, children }: { total: number; children: ComponentChildren }) {
  return (
    <ul class="words">
      {children}
      {total > listedMax && <li>and {(total - listedMax).toLocaleString('en')} more</li>}
    </ul>
  )
}

function Counted({ title, count, unit }: { title: string; count: number; unit: string }) {
  return (
    <h2>
      {title} <span class="faint">{toCount(count, unit)}</span>
    </h2>
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

/** The ancestors of a fork, oldest last, and a page of the forks of a skill. */
export async function readForkTree({ name, version, skill }: ShownSkill, page: number) {
  const [record, forks] = await Promise.all([
    skill.forkedFrom && version ? api.getProvenance({ name, version }) : undefined,
    api.listForks({ name, page }),
  ])
  return { ancestors: (record?.forkChain ?? []).slice(0, 20), forks }
}

/** Nested lists: the oldest ancestor outermost, then this skill, then its forks. */
export function ForkTree(props: { shown: ShownSkill; tree: Awaited<ReturnType<typeof readForkTree>> }) {
  const { ancestors, forks } = props.tree
  if (ancestors.length === 0 && forks.total === 0) return <p>This skill is not a fork and has no forks.</p>
  return (
    <>
      <Branch ancestors={ancestors.toReversed()}>
        <strong>
          <bdi>{props.shown.name}</bdi>
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
      <Pager totalPages={forks.totalPages} />
    </>
  )
}

function Branch(props: { ancestors: Provenance['forkChain']; children: ComponentChildren; inner?: boolean }) {
  const [oldest, ...rest] = props.ancestors
  return (
    <ul class={props.inner ? '' : 'tree'}>
      <li>
        {oldest ? (
          <>
            <a href={toAddress(addresses.skill(oldest.fullName), { version: oldest.version })}>
              <bdi>{oldest.fullName}</bdi> {oldest.version}
            </a>
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
export function ForkForm({ shown: { skill, name } }: { shown: ShownSkill }) {
  const me = useMe()
  const { route } = useLocation()
  const action = useAction(async ({ newName = '' }: Fields) => {
    const fork = await api.forkSkill({ name, newName: newName.trim() || undefined })
    route(addresses.skill(fork.fullName))
  })
  if (!me || !skill.latestVersion || skill.stub) return null
  return (
    <Form card="Fork this skill" action={action} submit="Fork it">
      <Field label="Name of your fork" name="newName" defaultValue={toShortName(skill)} maxLength={64} required>
        Version {skill.latestVersion} is copied to {me.username}/…, with a link to its origin.
      </Field>
    </Form>
  )
}
