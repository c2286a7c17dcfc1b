import type { ComponentChildren } from 'preact'
import { addresses } from '../../addresses.ts'
import { api } from '../../api.ts'
import { useData } from '../../data/queries.ts'
import { toAddress, useAddress } from '../../data/use-address.ts'
import { Pager, toPageNumber } from '../../ui/pager.tsx'
import { Time } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import type { ShownSkill } from './shown-skill.ts'

interface Ancestor {
  readonly fullName: string
  readonly version: string
}

/** Nested lists: the oldest ancestor outermost, then this skill, then its forks. */
export function ForkTree({ shown }: { shown: ShownSkill }) {
  const { name, version, skill } = shown
  const page = toPageNumber(useAddress().fields.page)
  const found = useData(['skill', name, 'tree', version, page], async () => {
    const [record, forks] = await Promise.all([
      skill.forkedFrom && version ? api.getProvenance({ name, version }) : undefined,
      api.listForks({ name, page }),
    ])
    return { ancestors: (record?.forkChain ?? []).slice(0, 20), forks }
  })
  return (
    <Shown of={found}>
      {({ ancestors, forks }) =>
        ancestors.length === 0 && forks.total === 0 ? (
          <p>This skill is not a fork and has no forks.</p>
        ) : (
          <>
            <Branch ancestors={ancestors.toReversed()}>
              <strong>
                <bdi>{name}</bdi>
              </strong>{' '}
              <span class="faint">
                this one, {forks.total.toLocaleString('en')} {forks.total === 1 ? 'fork' : 'forks'}
              </span>
              {forks.skills.length > 0 && (
                <ul>
                  {forks.skills.map((fork) => (
                    <li key={fork.id}>
                      <a href={addresses.skill(fork.fullName)}>
                        <bdi>{fork.fullName}</bdi>
                      </a>{' '}
                      <span class="faint">
                        <Time at={fork.publishedAt} />
                      </span>
                    </li>
                  ))}
                </ul>
              )}
            </Branch>
            <Pager page={page} totalPages={forks.totalPages} />
          </>
        )
      }
    </Shown>
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
