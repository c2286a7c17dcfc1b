import { api, reloadData, useData } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { Page, ItemList } from '../../ui/page.tsx'
import { Badge, Time, NameLink, NameHeading } from '../../ui/parts.tsx'
import { Decide, ModerationDecision, useItemsByStatus } from './decide.tsx'

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
    <Page title="Reports">
      {filter}
      <ItemList of={found} items={({ reports }) => reports} label="Reports" empty="No reports in this state.">
        {(report) => <ReportItem key={report.id} report={report} />}
      </ItemList>
      <Moderated />
    </Page>
  )
}

function ReportItem({ report }: { report: Report }) {
  const { id, kind, skill } = report
  return (
    <li>
      <NameHeading href={addresses.skill(skill.fullName)} name={skill.fullName} />
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
          work={async (decision, note) => {
            await api.decideReport({ id, status: decision, note })
            await Promise.all([
              reloadData('reports'),
              reloadData('moderated'),
              reloadData('moderation'),
              reloadData('skill'),
            ])
          }}
        />
      )}
    </li>
  )
}

function Moderated() {
  const found = useData(['moderated'], async () => (await api.listModerated({})).skills)
  return (
    <section>
      <h2>Flagged and hidden skills</h2>
      <ItemList
        of={found}
        items={(skills) => skills}
        label="Flagged and hidden skills"
        empty="No skill is flagged or hidden."
      >
        {({ fullName, state, reason, decidedAt }) => (
          <li key={fullName}>
            <p class="facts">
              <Badge tone="bad">{state}</Badge>
              <NameLink href={addresses.skill(fullName)} name={fullName} />
              <span dir="auto">{reason}</span>
              {decidedAt && <Time at={decidedAt} />}
            </p>
            <ModerationDecision name={fullName} />
          </li>
        )}
      </ItemList>
    </section>
  )
}
