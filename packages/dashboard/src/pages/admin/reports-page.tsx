import { api, useData } from '../../api.ts'
import { DataTable, Page, ItemList, toTimeColumn, type Column } from '../../ui/page.tsx'
import { Badge, Time } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'
import { Decide, ModerationDecision, useItemsByStatus } from './decide.tsx'
import { addresses } from '../../addresses.ts'

type Report = Awaited<ReturnType<typeof api.listReports>>['reports'][number]

const statuses = ['open', 'upheld', 'dismissed'] as const
const kinds = { report: 'report', appeal: "owner's appeal" } as const
const decisions = {
  report: [
    ['dismissed', 'Dismiss: the skill stays'],
    ['upheld', 'Uphold: the skill is hidden'],
  ],
  appeal: [
    ['upheld', 'Uphold: the skill is shown again'],
    ['dismissed', 'Dismiss: the skill stays as it is'],
  ],
} as const

/** Reports of skills, appeals of their owners, and the flagged and hidden skills. */
export function ReportsPage() {
  const { found, filter } = useItemsByStatus(['reports'], statuses, 'open', (status, page) =>
    api.listReports({ status, page }),
  )
  return (
    <Page title="Reports" hint="What users report about skills, and what owners say against a decision.">
      {filter}
      <ItemList of={found} items="reports" label="Reports" empty="No reports in this state.">
        {(report) => <ReportItem key={report.id} report={report} />}
      </ItemList>
      {found.data && <Moderated />}
    </Page>
  )
}

function ReportItem({ report }: { report: Report }) {
  const { id, kind, skill } = report
  return (
    <li>
      <h2>
        <SkillLink name={skill.fullName} />
      </h2>
      <p class="facts">
        <Badge tone={report.status === 'open' ? 'fair' : 'plain'}>{report.status}</Badge>
        <span>{kinds[kind]}</span>
        <strong dir="auto">{report.reason}</strong>
        <span>by {report.reporter?.username ?? 'a visitor'}</span>
        <Time at={report.createdAt} />
      </p>
      {report.details && <p dir="auto">{report.details}</p>}
      {report.note && <p class="faint">Decided: {report.note}</p>}
      {report.status === 'open' && (
        <Decide
          subject={skill.fullName}
          decisions={decisions[kind]}
          noteHint="The owner can read this."
          work={(status, note) => api.decideReport({ id, status, note })}
        />
      )}
    </li>
  )
}

type Moderated = Awaited<ReturnType<typeof api.listModerated>>['skills'][number]

const columns: readonly Column<Moderated>[] = [
  {
    title: 'Skill',
    names: true,
    by: ({ fullName }) => fullName,
    cell: ({ fullName }) => <SkillLink name={fullName} />,
  },
  { title: 'State', by: ({ state }) => state, cell: ({ state }) => <Badge tone="bad">{state}</Badge> },
  { title: 'Reason', cell: ({ reason }) => <span dir="auto">{reason}</span> },
  toTimeColumn('Decided', ({ decidedAt }) => decidedAt),
  { title: 'Change', cell: ({ fullName }) => <ModerationDecision name={fullName} /> },
]

function Moderated() {
  const found = useData(['moderated'], () => api.listModerated({ limit: 100 }))
  return (
    <section>
      <h2>Flagged and hidden skills</h2>
      <DataTable of={found} items="skills" label="Flagged and hidden skills" columns={columns} rowKey="fullName">
        No skill is flagged or hidden.
      </DataTable>
    </section>
  )
}

const copyStatuses = ['open', 'confirmed', 'dismissed'] as const

/** Reports of copied skills, with the share of equal text. */
export function CopyReportsPage() {
  const { found, filter } = useItemsByStatus(['copy-reports'], copyStatuses, 'open', (status, page) =>
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
