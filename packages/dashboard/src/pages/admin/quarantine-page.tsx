import { api } from '../../api.ts'
import { refresh, useData } from '../../data/queries.ts'
import { useAddress } from '../../data/use-address.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { Findings, Verdict } from '../../ui/findings.tsx'
import { ActionButton, useAction } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { toPageNumber } from '../../ui/pager.tsx'
import { Time } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { Queue } from './queue.tsx'

type QuarantinedItem = Awaited<ReturnType<typeof api.listQuarantined>>['quarantined'][number]

/** Quarantined versions, which an administrator has to review. */
export function QuarantinePage() {
  const page = toPageNumber(useAddress().fields.page)
  const quarantined = useData(['quarantine', page], () => api.listQuarantined({ page }))
  return (
    <Page title="Quarantine">
      <Shown of={quarantined}>
        {(found) => (
          <Queue
            items={found.quarantined}
            label="Quarantine"
            empty="Nothing is quarantined. Set the policy with `skillstead serve --scan-policy`."
            page={page}
            totalPages={found.totalPages}
          >
            {(version) => <QuarantinedItem key={version.id} version={version} />}
          </Queue>
        )}
      </Shown>
    </Page>
  )
}

function QuarantinedItem({ version }: { version: QuarantinedItem }) {
  const { id, fullName, security } = version
  const release = useAction(async () => {
    await api.releaseQuarantined({ id })
    await refresh('quarantine')
  })
  return (
    <li>
      <h2>
        <bdi>{fullName}</bdi> {version.version}
      </h2>
      <p class="facts">
        <span>by {version.publisher.username}</span>
        <Time at={version.createdAt} />
      </p>
      <Verdict of={security} />
      <details>
        <summary>Scan findings</summary>
        <Findings findings={security.findings} />
      </details>
      {version.published ? (
        <p>A rescan quarantined it after its publication. Its content is not served.</p>
      ) : (
        <div class="row">
          <ActionButton action={release}>Release</ActionButton>
          <ConfirmButton
            action="Discard"
            title={`Discard ${fullName} ${version.version}?`}
            work={async () => {
              await api.deleteQuarantined({ id })
              await refresh('quarantine')
            }}
          >
            <p>The version is deleted and will not be published. This cannot be undone.</p>
          </ConfirmButton>
        </div>
      )}
    </li>
  )
}
