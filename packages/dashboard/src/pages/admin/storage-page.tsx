import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { refresh, useData } from '../../data/queries.ts'
import { ActionButton, useAction } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Notice, Time, toBytesText } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { Figures } from './figures.tsx'

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
                  <a href={addresses.skill(fullName)}>
                    <bdi>{fullName}</bdi>
                  </a>{' '}
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
  const make = useAction(async () => {
    await api.createBackup({})
    await refresh('operator', 'backups')
  })
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
              <ActionButton action={make}>Back up now</ActionButton>
              {make.done && <Notice>The backup was created and verified.</Notice>}
              {made.length === 0 ? (
                <Empty>
                  <p>There are no backups yet.</p>
                </Empty>
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
