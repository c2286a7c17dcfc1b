import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { Page, ItemList } from '../../ui/page.tsx'
import { Badge, Time } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'
import { Decide, useItemsByStatus } from './decide.tsx'

const statuses = ['open', 'confirmed', 'dismissed'] as const

/** Reports of copied skills, with the share of equal text. */
export function CopyReportsPage() {
  const { found, filter } = useItemsByStatus(['copy-reports'], statuses, 'open', (status, page) =>
    api.listCopyReports({ status, page }),
  )
  return (
    <Page title="Copies" hint="Skills that someone reports as copied from another one.">
      {filter}
      <ItemList of={found} items="copyReports" label="Reports of copies" empty="No reports in this state.">
        {(report) => (
          <li key={report.id}>
            <h2>
              <SkillLink name={report.skill.fullName} /> of <SkillLink name={report.original.fullName} />
            </h2>
            <p class="facts">
              <Badge tone={report.status === 'open' ? 'fair' : 'plain'}>{report.status}</Badge>
              <span>{Math.round(report.similarity * 100)} % of the smaller text is in the other</span>
              <Time at={report.createdAt} />
              <a href={addresses.skill(report.skill.fullName, 'similar')}>Compare</a>
            </p>
            <p dir="auto">{report.evidence}</p>
            {report.status === 'open' && (
              <Decide
                subject={report.skill.fullName}
                decisions={[
                  ['dismissed', 'Dismiss: no copy'],
                  ['confirmed', 'Confirm: a copy'],
                ]}
                noteHint="Stored with the decision."
                work={(status, note) => api.decideCopyReport({ id: report.id, status, note })}
              />
            )}
          </li>
        )}
      </ItemList>
    </Page>
  )
}
