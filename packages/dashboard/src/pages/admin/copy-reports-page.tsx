import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { refresh, useData } from '../../data/queries.ts'
import { useAddress } from '../../data/use-address.ts'
import { Page } from '../../ui/page.tsx'
import { toPageNumber } from '../../ui/pager.tsx'
import { Badge, Time } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { Decide } from './decide.tsx'
import { Queue } from './queue.tsx'
import { StatusFilter, useStatus } from './status-filter.tsx'

const statuses = ['open', 'confirmed', 'dismissed'] as const

/** Reports of copied skills, with the share of equal text. */
export function CopyReportsPage() {
  const page = toPageNumber(useAddress().fields.page)
  const status = useStatus(statuses, 'open')
  const wanted = { status: status || undefined, page }
  const reports = useData(['copy-reports', wanted], () => api.listCopyReports(wanted))
  return (
    <Page title="Copies">
      <StatusFilter label="State" all={statuses} value={status} />
      <Shown of={reports}>
        {({ copyReports, totalPages }) => (
          <Queue
            items={copyReports}
            label="Reports of copies"
            empty="No reports in this state."
            page={page}
            totalPages={totalPages}
          >
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
                    work={async (decision, note) => {
                      await api.decideCopyReport({ id: report.id, status: decision, note })
                      await refresh('copy-reports')
                    }}
                  />
                )}
              </li>
            )}
          </Queue>
        )}
      </Shown>
    </Page>
  )
}

function SkillLink({ name }: { name: string }) {
  return (
    <a href={addresses.skill(name)}>
      <bdi>{name}</bdi>
    </a>
  )
}
