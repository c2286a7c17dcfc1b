import { reportStatuses } from '@skillstead/protocol'
import { api, useData } from '../../api.ts'
import { DataTable, Page, ItemList, toNameColumn, toTimeColumn, type Column } from '../../ui/page.tsx'
import { Badge, Time } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'
import { Decide, ModerationDecision, useItemsByStatus } from './decide.tsx'
import { addresses } from '../../addresses.ts'

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
  const { found, filter } = useItemsByStatus(['reports'], reportStatuses, 'open', api.listReports)
  return (
    <Page title="Reports" hint="What users report about skills, and what owners say against a decision.">
      {filter}
      <ItemList of={found} items="reports" label="Reports" empty="No reports in this state.">
        {({ id, kind, status, skill, reason, reporter, createdAt, details, note }) => (
          <li key={id}>
            <h2>
              <SkillLink name={skill.fullName} />
            </h2>
            <p class="facts">
              <StatusBadge of={status} />
              <span>{kinds[kind]}</span>
              <strong dir="auto">{reason}</strong>
              <span>by {reporter?.username ?? 'a visitor'}</span>
              <Time at={createdAt} />
            </p>
            {details && <p dir="auto">{details}</p>}
            {note && <p class="faint">Decided: {note}</p>}
            {status === 'open' && (
              <Decide
                subject={skill.fullName}
                decisions={decisions[kind]}
                noteHint="The owner can read this."
                work={(to, why) => api.decideReport({ id, status: to, note: why })}
              />
            )}
          </li>
        )}
      </ItemList>
      {found.data && <Moderated />}
    </Page>
  )
}

const StatusBadge = ({ of }: { of: string }) => <Badge tone={of === 'open' ? 'fair' : 'plain'}>{of}</Badge>

type Moderated = Awaited<ReturnType<typeof api.listModerated>>['skills'][number]

const columns: readonly Column<Moderated>[] = [
  toNameColumn('Skill', ({ fullName }) => fullName, SkillLink),
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

const copyDecisions = [
  ['dismissed', 'Dismiss: no copy'],
  ['confirmed', 'Confirm: a copy'],
] as const

/** Reports of copied skills, with the share of equal text. */
export function CopyReportsPage() {
  const statuses = ['open', 'confirmed', 'dismissed'] as const
  const { found, filter } = useItemsByStatus(['copy-reports'], statuses, 'open', api.listCopyReports)
  return (
    <Page title="Copies" hint="Skills that someone reports as copied from another one.">
      {filter}
      <ItemList of={found} items="copyReports" label="Reports of copies" empty="No reports in this state.">
        {({ id, skill, original, status, similarity, createdAt, evidence }) => (
          <li key={id}>
            <h2>
              <SkillLink name={skill.fullName} /> of <SkillLink name={original.fullName} />
            </h2>
            <p class="facts">
              <StatusBadge of={status} />
              <span>{Math.round(similarity * 100)} % of the smaller text is in the other</span>
              <Time at={createdAt} />
              <a href={addresses.skill(skill.fullName, 'similar')}>Compare</a>
            </p>
            <p dir="auto">{evidence}</p>
            {status === 'open' && (
              <Decide
                subject={skill.fullName}
                decisions={copyDecisions}
                noteHint="Stored with the decision."
                work={(to, note) => api.decideCopyReport({ id, status: to, note })}
              />
            )}
          </li>
        )}
      </ItemList>
    </Page>
  )
}
