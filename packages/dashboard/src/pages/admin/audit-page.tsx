import { toJsonLine } from '@skillstead/protocol'
import { api } from '../../api.ts'
import { addresses, toAddress, useAddress } from '../../addresses.ts'
import { SearchField } from '../../ui/form.tsx'
import { DataTable, Page, toTimeColumn, usePaged, type Column } from '../../ui/page.tsx'
import { NameLink, UserLink } from '../../ui/parts.tsx'
import { FullName } from '../../ui/skill-list.tsx'
import { toActionWords } from './audit-words.ts'

type Entry = Awaited<ReturnType<typeof api.listAudit>>['entries'][number]

const columns: readonly Column<Entry>[] = [
  { title: 'Who', names: true, by: ({ actor }) => actor, cell: ({ actor }) => toActor(actor) },
  {
    title: 'What',
    by: ({ action }) => toActionWords(action),
    cell: ({ action }) => <span title={action}>{toActionWords(action)}</span>,
  },
  { title: 'On', by: ({ subject }) => subject, cell: (entry) => <Subject of={entry} /> },
  toTimeColumn('When', ({ at }) => at),
  { title: 'Details', cell: (entry) => <Details of={entry} /> },
]

/** The audit log of the node, newest first. */
export function AuditPage() {
  const { fields, change } = useAddress()
  const actor = fields.actor || undefined
  const found = usePaged(['audit', actor], (page) => api.listAudit({ actor, page, limit: 50 }))
  return (
    <Page title="Audit" hint="Who did what on this node. Entries are never changed or deleted.">
      <SearchField label="User" value={actor ?? ''} onChange={(to) => change({ actor: to, page: undefined }, true)} />
      <DataTable of={found} items="entries" label="Audit log" columns={columns}>
        {actor ? 'This user did nothing that is recorded. Write the whole name.' : 'Nothing is recorded yet.'}
      </DataTable>
    </Page>
  )
}

const toActor = (actor: string | null) =>
  actor === null ? 'the node' : <NameLink href={toAddress('/admin/audit', { actor })} name={actor} />

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** What the action was about, with a link to its page. Ids are shortened; the details have them in full. */
function Subject({ of: { action, subject } }: { of: Entry }) {
  if (uuid.test(subject)) return <bdi title={subject}>{subject.slice(0, 8)}…</bdi>
  const [area] = action.split('.')
  if (area === 'user' || area === 'verification') return <UserLink name={subject} />
  if (area === 'pack') return <NameLink href={addresses.pack(subject)} name={subject} />
  if (area === 'mirror') return <NameLink href={addresses.mirror(subject)} name={subject} />
  if (!/^[^/:]+\/[^/]+$/.test(subject)) return <bdi>{subject}</bdi>
  return (
    <a href={addresses.skill(subject.split('@')[0]!)}>
      <FullName name={subject} />
    </a>
  )
}

const Details = ({ of: { id, action, subject, data } }: { of: Entry }) => (
  <details>
    <summary>
      JSON <span class="unseen">of {toActionWords(action)}</span>
    </summary>
    <code>{toJsonLine({ id, action, subject, ...data })}</code>
  </details>
)
