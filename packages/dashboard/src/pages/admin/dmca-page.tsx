import { dmcaStatuses } from '@skillstead/protocol'
import { api } from '../../api.ts'
import { Page, ItemList } from '../../ui/page.tsx'
import { Badge, Time, toWords } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'
import { Statements } from '../takedowns/statements.tsx'
import { Decide, useItemsByStatus } from './decide.tsx'

type Case = Awaited<ReturnType<typeof api.listDmca>>['cases'][number]
type Status = Case['status']

const reject = ['rejected', 'Reject: the skill stays'] as const
const remove = ['removed', 'Remove: the content is quarantined'] as const
/** The state changes by an administrator. The parties make the others, or the node after a period of time. */
const nextOf: Readonly<Partial<Record<Status, readonly (readonly [Status, string])[]>>> = {
  submitted: [['under_review', 'Start the review'], reject, remove],
  under_review: [reject, remove],
  removed: [['counter_noticed', 'Confirm the sender of the counter-notice']],
  counter_noticed: [['upheld', 'A court action was recorded: it stays quarantined']],
}

/** Takedown cases with the statements of the parties. */
export function DmcaPage() {
  const { found, filter } = useItemsByStatus(['dmca'], dmcaStatuses, 'all', api.listDmca)
  return (
    <Page title="Takedowns" hint="Notices of copyright holders (DMCA), and the answers of the owners.">
      {filter}
      <ItemList of={found} items="cases" label="Cases" empty="No cases in this state.">
        {(one) => <CaseItem key={one.id} of={one} />}
      </ItemList>
    </Page>
  )
}

function CaseItem({ of }: { of: Case }) {
  const name = of.skill?.fullName ?? 'a deleted skill'
  const next = nextOf[of.status]
  const mayDecide = next && (of.status !== 'removed' || (of.counterNotices?.length ?? 0) > 0)
  return (
    <li>
      <h2>{of.skill ? <SkillLink name={name} /> : name}</h2>
      <p class="facts">
        <Badge tone={next ? 'fair' : 'plain'}>{toWords(of.status)}</Badge>
        <Time at={of.submittedAt} verb="submitted" />
        {of.counterNoticeUntil && (
          <span>
            restored <Time at={of.counterNoticeUntil} /> unless a court action is recorded
          </span>
        )}
      </p>
      <Statements of={of} />
      {mayDecide && (
        <Decide
          subject={name}
          decisions={next}
          noteHint="Both parties can read this."
          work={(status, note) =>
            api.updateDmca({ id: of.id, status, note, counterNoticeId: of.counterNotices?.at(-1)?.id })
          }
        />
      )}
    </li>
  )
}
