import { api } from '../../api.ts'
import { DataTable, Page, toTimeColumn, type Column } from '../../ui/page.tsx'
import { ActionButton } from '../../ui/form.tsx'
import { Badge, type Tone, toWords } from '../../ui/parts.tsx'
import { RefreshButton, useItemsByStatus } from './decide.tsx'

type Row = Awaited<ReturnType<typeof api.listOutbox>>['rows'][number]

const tones: Record<Row['state'], Tone> = { pending: 'fair', failed: 'bad', done: 'good' }

const columns: readonly Column<Row>[] = [
  { title: 'Job', names: true, by: ({ kind }) => kind, cell: ({ kind }) => toWords(kind) },
  { title: 'State', by: ({ state }) => state, cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
  toTimeColumn('Created', ({ createdAt }) => createdAt),
  { title: 'Attempts', number: true, by: ({ attempts }) => attempts },
  toTimeColumn('Next run', ({ nextAt }) => nextAt),
  { title: 'Last error', cell: ({ lastError }) => lastError },
  {
    title: 'Action',
    cell: ({ id, state }) =>
      state !== 'done' && <ActionButton work={() => api.retryOutboxRow({ id })}>Retry</ActionButton>,
  },
]

/** Pending, failed and completed work: deliveries, checks, scans, upstream writes. */
export function OutboxPage() {
  const { found, filter } = useItemsByStatus(
    ['operator', 'outbox'],
    ['pending', 'failed', 'done'],
    'all',
    ({ status: state, page }) => api.listOutbox({ state, page, limit: 100 }),
  )
  return (
    <Page
      title="Background jobs"
      hint="Deliveries, scans, checks and syncs that this node does on its own; a failed job is retried later."
      aside={<RefreshButton of={found} />}
    >
      {filter}
      <DataTable of={found} items="rows" label="Work of the node" columns={columns}>
        No jobs in this state.
      </DataTable>
    </Page>
  )
}
