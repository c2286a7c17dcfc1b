import { api } from '../../api.ts'
import { refresh, useData } from '../../data/queries.ts'
import { useAddress } from '../../data/use-address.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { ActionButton, useAction } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Pager, toPageNumber } from '../../ui/pager.tsx'
import { Badge, Empty, Time, type Tone } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { StatusFilter, useStatus } from './status-filter.tsx'

type Row = Awaited<ReturnType<typeof api.listOutbox>>['rows'][number]

const states = ['pending', 'failed', 'done'] as const
const tones: Record<Row['state'], Tone> = { pending: 'fair', failed: 'bad', done: 'good' }

const columns = ['State', 'Kind', 'Created', 'Attempts', 'Next', 'Last error', 'Retry'].map((title) => ({
  title,
  number: title === 'Attempts',
}))

/** Pending, failed and completed work: deliveries, checks, scans, upstream writes. */
export function OutboxPage() {
  const page = toPageNumber(useAddress().fields.page)
  const state = useStatus(states, '')
  const found = useData(['operator', 'outbox', state, page], () => api.listOutbox({ state: state || undefined, page }))
  return (
    <Page title="Outbox" aside={<button onClick={() => void found.refetch()}>Refresh</button>}>
      <StatusFilter label="State" all={states} value={state} />
      <Shown of={found}>
        {({ rows, counts, totalPages }) => (
          <>
            <p class="facts">
              {counts.map(({ kind, pending, failed }) => (
                <span key={kind}>
                  {kind}: {pending} pending, {failed} failed
                </span>
              ))}
            </p>
            {rows.length === 0 ? (
              <Empty>
                <p>No pending or failed work.</p>
              </Empty>
            ) : (
              <OutboxTable rows={rows} />
            )}
            <Pager page={page} totalPages={totalPages} />
          </>
        )}
      </Shown>
    </Page>
  )
}

function OutboxTable({ rows }: { rows: readonly Row[] }) {
  return (
    <DataTable label="Work of the node" columns={columns}>
      {rows.map((row) => (
        <tr key={row.id}>
          <td>
            <Badge tone={tones[row.state]}>{row.state}</Badge>
          </td>
          <td>{row.kind}</td>
          <td>
            <Time at={row.createdAt} />
          </td>
          <td class="number">{row.attempts}</td>
          <td>{row.nextAt ? <Time at={row.nextAt} /> : ''}</td>
          <td>{row.lastError}</td>
          <td>{row.state !== 'done' && <Retry id={row.id} />}</td>
        </tr>
      ))}
    </DataTable>
  )
}

function Retry({ id }: { id: string }) {
  const action = useAction(async () => {
    await api.retryOutboxRow({ id })
    await refresh('operator', 'outbox')
  })
  return <ActionButton action={action}>Retry</ActionButton>
}
