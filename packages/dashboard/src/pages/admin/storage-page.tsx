import { api, useData } from '../../api.ts'
import { ActionButton } from '../../ui/form.tsx'
import { Page, Shown, Table, toNameColumn, toTimeColumn, type Column } from '../../ui/page.tsx'
import { Empty, Notice, Time, toBytesText, Figures } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'

const size: Column<{ bytes: number }> = {
  title: 'Size',
  number: true,
  by: ({ bytes }) => bytes,
  cell: ({ bytes }) => toBytesText(bytes),
}

type Storage = Awaited<ReturnType<typeof api.getStorage>>
const largest: readonly Column<Storage['largest'][number]>[] = [
  toNameColumn('Skill', ({ fullName }) => fullName, SkillLink),
  size,
]

type Backup = Awaited<ReturnType<typeof api.listBackups>>['backups'][number]
const backupColumns: readonly Column<Backup>[] = [
  { title: 'File', names: true, by: ({ name }) => name, cell: ({ name }) => <code>{name}</code> },
  toTimeColumn('Made', ({ createdAt }) => createdAt),
  { title: 'By', by: ({ scheduled }) => Number(scheduled), cell: ({ scheduled }) => (scheduled ? 'schedule' : 'hand') },
  size,
]

/** The disk use of the registry, and its backups. */
export function StoragePage() {
  const storage = useData(['operator', 'storage'], () => api.getStorage())
  return (
    <Page title="Storage" hint="What the node has on disk, which skills are largest, and its backups.">
      <Shown of={storage}>
        {(use) => (
          <>
            <Figures
              of={[
                ['Database file', toBytesText(use.databaseBytes)],
                ['Content, uncompressed', toBytesText(use.contentBytes)],
                ['Distinct files', use.blobs],
                ...(use.walBytes === null ? [] : [['Journal', toBytesText(use.walBytes)] as const]),
                ...(use.freeBytes === null ? [] : [['Free disk space', toBytesText(use.freeBytes)] as const]),
              ]}
            />
            <h2>Largest skills</h2>
            <Table rows={use.largest} label="Largest skills" columns={largest} rowKey="fullName" />
            <Backups />
          </>
        )}
      </Shown>
    </Page>
  )
}

function Backups() {
  const backups = useData(['operator', 'backups'], () => api.listBackups())
  return (
    <section>
      <h2>Backups</h2>
      <Shown of={backups}>
        {({ backups: made, folder, schedule }) =>
          folder === null ? (
            <p>Back up this database with its own tools. The node makes backups of SQLite files only.</p>
          ) : (
            <>
              <p class="faint">
                Complete, verified copies, made while the node is running, in <code>{folder}</code>.{' '}
                {schedule?.nextAt ? (
                  <>
                    The next one is made <Time at={schedule.nextAt} />, and the latest {schedule.backupsMax} stay.
                  </>
                ) : (
                  'None are made on a schedule.'
                )}
              </p>
              {schedule?.lastError && <Notice tone="bad">The last backup failed: {schedule.lastError}</Notice>}
              <ActionButton work={() => api.createBackup({})} done="The backup was created and verified.">
                Back up now
              </ActionButton>
              {made.length === 0 ? (
                <Empty>There are no backups yet.</Empty>
              ) : (
                <Table rows={made} label="Backups" columns={backupColumns} rowKey="name" />
              )}
            </>
          )
        }
      </Shown>
    </section>
  )
}
