import { api, useData } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { ActionButton } from '../../ui/form.tsx'
import { Page, Shown } from '../../ui/page.tsx'
import { Empty, Time, toBytesText, Figures, NameLink } from '../../ui/parts.tsx'

/** The disk use of the registry, and its backups. */
export function StoragePage() {
  const storage = useData(['operator', 'storage'], () => api.getStorage())
  return (
    <Page title="Storage">
      <Shown of={storage}>
        {(use) => (
          <>
            <Figures
              of={[
                ['Database', toBytesText(use.databaseBytes)],
                ['Content before compression', toBytesText(use.contentBytes)],
                ['Distinct files', use.blobs],
                ...(use.walBytes === null ? [] : [['Journal', toBytesText(use.walBytes)] as const]),
                ...(use.freeBytes === null ? [] : [['Free disk space', toBytesText(use.freeBytes)] as const]),
              ]}
            />
            <h2>Largest skills</h2>
            <ol>
              {use.largest.map(({ fullName, bytes }) => (
                <li key={fullName}>
                  <NameLink href={addresses.skill(fullName)} name={fullName} />{' '}
                  <span class="faint">{toBytesText(bytes)}</span>
                </li>
              ))}
            </ol>
          </>
        )}
      </Shown>
      <Backups />
    </Page>
  )
}

function Backups() {
  const backups = useData(['operator', 'backups'], () => api.listBackups())
  return (
    <section>
      <h2>Backups</h2>
      <Shown of={backups}>
        {({ backups: made, folder }) =>
          folder === null ? (
            <p>Back up this database with its own tools. The node makes backups of SQLite files only.</p>
          ) : (
            <>
              <p class="faint">
                Complete, verified copies, made while the node is running, in <code>{folder}</code>.
              </p>
              <ActionButton
                work={() => api.createBackup({})}
                refreshes={[['operator', 'backups']]}
                done="The backup was created and verified."
              >
                Back up now
              </ActionButton>
              {made.length === 0 ? (
                <Empty>There are no backups yet.</Empty>
              ) : (
                <ul class="plain" aria-label="Backups">
                  {made.map(({ name, bytes, createdAt }) => (
                    <li key={name} class="row">
                      <code>{name}</code>
                      <span>{toBytesText(bytes)}</span>
                      <Time at={createdAt} />
                    </li>
                  ))}
                </ul>
              )}
            </>
          )
        }
      </Shown>
    </section>
  )
}
