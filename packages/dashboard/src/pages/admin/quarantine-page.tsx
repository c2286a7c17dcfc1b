import { api } from '../../api.ts'
import { ConfirmButton, ActionButton } from '../../ui/form.tsx'
import { Findings, Verdict, ChangeReport } from '../../ui/findings.tsx'
import { Page, ItemList, usePaged } from '../../ui/page.tsx'
import { Time } from '../../ui/parts.tsx'
import { FullName } from '../../ui/skill-list.tsx'

/** Quarantined versions, which an administrator has to review. */
export function QuarantinePage() {
  const quarantined = usePaged(['quarantine'], (page) => api.listQuarantined({ page }))
  const empty = (
    <>
      Nothing is quarantined. Set the policy with <code>skillstead serve --scan-policy</code>.
    </>
  )
  return (
    <Page title="Quarantine" hint="Versions that the scan policy keeps back until an administrator decides.">
      <ItemList of={quarantined} items="quarantined" label="Quarantine" empty={empty}>
        {({ id, fullName, version, publisher, createdAt, security, change, published }) => (
          <li key={id}>
            <h2>
              <FullName name={fullName} /> {version}
            </h2>
            <p class="facts">
              <span>by {publisher.username}</span>
              <Time at={createdAt} />
            </p>
            <Verdict of={security} />
            <details>
              <summary>Scan findings</summary>
              <Findings findings={security.findings} />
            </details>
            {change && (
              <details open={change.verdict !== 'safe'}>
                <summary>What it changes</summary>
                <ChangeReport change={change} />
              </details>
            )}
            {published ? (
              <p>A rescan quarantined it after its publication. Its content is not served.</p>
            ) : (
              <div class="row">
                <ActionButton work={() => api.releaseQuarantined({ id })}>Release</ActionButton>
                <ConfirmButton
                  action="Discard"
                  title={`Discard ${fullName} ${version}?`}
                  work={() => api.deleteQuarantined({ id })}
                >
                  <p>The version is deleted and will not be published. This cannot be undone.</p>
                </ConfirmButton>
              </div>
            )}
          </li>
        )}
      </ItemList>
    </Page>
  )
}
