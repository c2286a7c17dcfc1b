import { api } from '../../../api.ts'
import { useData } from '../../../data/queries.ts'
import { Badge } from '../../../ui/parts.tsx'
import { Shown } from '../../../ui/shown.tsx'
import { ModerationDecision } from '../../admin/moderation-decision.tsx'

/** For administrators, who can moderate without a report. */
export function ModerationOfSkill({ name }: { name: string }) {
  const found = useData(['moderation', name], () => api.getModeration({ name }))
  return (
    <section>
      <h2>Moderation</h2>
      <Shown of={found}>
        {({ state, reason }) => (
          <p class="facts">
            <Badge tone={state === 'shown' ? 'good' : 'bad'}>{state}</Badge>
            <bdi>{reason}</bdi>
          </p>
        )}
      </Shown>
      <ModerationDecision name={name} />
    </section>
  )
}
