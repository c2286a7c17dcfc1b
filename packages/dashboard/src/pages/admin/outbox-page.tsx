import { api } from '../../api.ts'
import { DataTable, Page, type Column } from '../../ui/page.tsx'
import { ActionButton } from '../../ui/form.tsx'
import { Badge, Time, type Tone } from '../../ui/parts.tsx'
import { useItemsByStatus } from './decide.tsx'

type Row = Awaited<ReturnType<typeof api.listOutbox>>['rows'][number]

const states = ['pending', 'failed', 'done'] as const
const tones: Record<Row['state'], Tone> = { pending: 'fair', failed: 'bad', done: 'good' }

const columns: readonly Column<Row>[] = [
  { title: 'State', cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
  { title: 'Kind', cell: ({ kind }) => kind },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Attempts', number: true, cell: ({ attempts }) => attempts },
  { title: 'Next', cell: ({ nextAt }) => nextAt && <Time at={nextAt} /> },
  { title: 'Last error', cell: ({ lastError }) => lastError },
  { title: 'Retry', cell: ({ id, state }) => state !== 'done' && <Retry id={id} /> },
]

/** Pending, failed and completed work: deliveries, checks, scans, upstream writes. */
export function OutboxPage() {
  const { found, filter } = useItemsByStatus(['operator', 'outbox'], states, '', (state, page) =>
    api.listOutbox({ state, page }),
  )
  return (
    <Page title="Outbox" aside={<button onClick={() => void found.refetch()}>Refresh</button>}>
      {filter}
      <p class="facts">
        {found.data?.counts.map(({ kind, pending, failed }) => (
          <span key={kind}>
            {kind}: {pending} pending, {failed} failed
          </span>
        ))}
      </p>
      <DataTable
        of={found}
        items={({ rows }) => rows}
        label="Work of the node"
        columns={columns}
        toKey={({ id }) => id}
        empty="No pending or failed work."
      />
    </Page>
  )
}

function Retry({ id }: { id: string }) {
  return (
    <ActionButton work={() => api.retryOutboxRow({ id })} refreshes={[['operator', 'outbox']]}>
      Retry
    </ActionButton>
  )
}
