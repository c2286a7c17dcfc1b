import type { ComponentChildren } from 'preact'
import { addresses, toAddress } from '../../addresses.ts'
import { api } from '../../api.ts'
import { Pager } from '../../ui/page.tsx'
import { Time, NameLink, toCount } from '../../ui/parts.tsx'
import { type ShownSkill, toShortName } from './shown-skill.ts'
import { useLocation } from 'preact-iso'
import { useMe } from '../../session.ts'
import { Field, Form, useAction } from '../../ui/form.tsx'

interface Ancestor {
  readonly fullName: string
  readonly version: string
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
                <span class="faint">
                  <Time at={fork.publishedAt} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Branch>
      <Pager totalPages={forks.totalPages} />
    </>
  )
}

function Branch(props: { ancestors: readonly Ancestor[]; children: ComponentChildren; inner?: boolean }) {
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
  const action = useAction(async ({ newName = '' }: Record<string, string>) => {
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
