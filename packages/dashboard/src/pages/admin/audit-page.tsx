import { toJsonLine } from '@skillstead/protocol'
import { api, useData } from '../../api.ts'
import { useAddress } from '../../addresses.ts'
import { SearchField } from '../../ui/form.tsx'
import { Page, toPageNumber, ItemList } from '../../ui/page.tsx'
import { Time } from '../../ui/parts.tsx'

/** The audit log of the node. */
export function AuditPage() {
  const { fields, change } = useAddress()
  const page = toPageNumber(fields.page)
  const actor = fields.actor || undefined
  const found = useData(['audit', actor, page], () => api.listAudit({ actor, page, limit: 50 }))
  return (
    <Page title="Audit">
      <SearchField
        label="Actor"
        value={actor ?? ''}
        onChange={(value) => change({ actor: value, page: undefined }, true)}
      />
      <ItemList of={found} items={({ entries }) => entries} label="Entries" empty="No entries.">
        {(entry) => (
          <li key={entry.id} class="facts">
            <Time at={entry.at} />
            <strong>{entry.action}</strong>
            <bdi>{entry.subject}</bdi>
            <span>by {entry.actor ?? 'the node'}</span>
            {Object.keys(entry.data).length > 0 && <code>{toJsonLine(entry.data)}</code>}
          </li>
        )}
      </ItemList>
    </Page>
  )
}
