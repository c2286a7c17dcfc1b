import { toEffectText, toRateText, type Evaluation, type EvaluationSummary } from '@skillstead/protocol'
import { api, useData } from '../api.ts'
import { type Column, Shown, Table, toTimeColumn } from './page.tsx'
import { Badge, Terms, toCount, UserLink } from './parts.tsx'

/** Whether a version does better or worse in evaluations than an earlier version; empty if neither. */
export function EvaluationBadge({ evaluations }: { evaluations: EvaluationSummary | undefined }) {
  const { change, comparedTo } = evaluations ?? {}
  if (change !== 'better' && change !== 'worse') return null
  return (
    <Badge tone={change === 'better' ? 'good' : 'bad'}>
      {change} than {comparedTo}
    </Badge>
  )
}

/** The most results that the panel lists. */
const listedMax = 50

/** The evaluations of a version: a summary, and a table of the results. */
export function EvaluationPanel(props: { name: string; version: string; evaluations: EvaluationSummary }) {
  const { name, version, evaluations } = props
  const { voices, byOwner, withSkill, withoutSkill, effect, comparedTo, comparedBy } = evaluations
  const found = useData(['skill', name, 'evaluations', version], () =>
    api.listEvaluations({ name, version, limit: listedMax }),
  )
  return (
    <section aria-label="Evaluations">
      <h2>Evaluations of {version}</h2>
      <p class="facts">
        <EvaluationBadge evaluations={evaluations} />
        <span>
          {toCount(voices, 'user')}
          {byOwner > 0 && `, ${byOwner === voices ? 'all' : byOwner} by the owner`}
        </span>
        {comparedBy && (
          <span>
            {toCount(comparedBy, 'user')} compared it with {comparedTo}
          </span>
        )}
        <a href="/docs/evaluations">What this means</a>
      </p>
      <Terms
        of={[
          ['With the skill', toRateText(withSkill)],
          ['Without', withoutSkill ? toRateText(withoutSkill) : null],
          ['Effect', effect ? toEffectText(effect) : null],
        ]}
      />
      <Shown of={found}>
        {({ evaluations: rows, total }) => (
          <>
            <Table columns={columns} rows={rows} rowKey="author" label="Results" />
            {total > rows.length && <p class="faint">{toCount(total - rows.length, 'earlier result')}.</p>}
          </>
        )}
      </Shown>
    </section>
  )
}

const columns: readonly Column<Evaluation>[] = [
  { title: 'Model', names: true, by: ({ model }) => model },
  { title: 'Runner', by: ({ runner }) => runner },
  {
    title: 'With the skill',
    number: true,
    by: ({ withSkill }) => withSkill.passed / withSkill.runs,
    cell: ({ withSkill }) => toCountsText(withSkill),
  },
  {
    title: 'Without',
    number: true,
    by: ({ withoutSkill }) => (withoutSkill ? withoutSkill.passed / withoutSkill.runs : null),
    cell: ({ withoutSkill }) => (withoutSkill ? toCountsText(withoutSkill) : ''),
  },
  { title: 'Cases', number: true, by: ({ cases }) => cases },
  {
    title: 'By',
    by: ({ author }) => author.username,
    cell: ({ author, byOwner, identity, signedBy }) => (
      <span>
        <UserLink name={author.username} />
        {byOwner && ', owner'}
        {identity && ', from CI'}
        {signedBy && (
          <>
            , signed by key <code>{signedBy.fingerprint}</code>
          </>
        )}
      </span>
    ),
  },
  toTimeColumn('Ran', ({ ranAt }) => ranAt),
]

const toCountsText = ({ passed, runs }: Evaluation['withSkill']): string =>
  `${passed.toLocaleString('en')}\u00a0of\u00a0${runs.toLocaleString('en')}`
