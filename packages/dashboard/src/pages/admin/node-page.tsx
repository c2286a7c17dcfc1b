import { useState } from 'preact/hooks'
import { api, useData } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { ConfirmButton } from '../../ui/form.tsx'
import { Chart } from '../../ui/lazy-components.tsx'
import { Page, Shown } from '../../ui/page.tsx'
import { Badge, Notice, Terms, Time, toCount, toWords, Figures } from '../../ui/parts.tsx'
import { RefreshButton } from './decide.tsx'

type Overview = Awaited<ReturnType<typeof api.getOverview>>
type Limits = Awaited<ReturnType<typeof api.getRateLimits>>

/** The state of the node; what needs a decision comes first. */
export function NodePage() {
  const found = useData(['operator', 'overview'], async () => {
    const [overview, limits, queues] = await Promise.all([api.getOverview(), api.getRateLimits(), readQueues()])
    return { overview, limits, queues, written: toWritten(overview.log) }
  })
  return (
    <Page
      title="This node"
      hint="What waits for a decision, what is stored, and how the node runs."
      aside={<RefreshButton of={found} />}
    >
      <Shown of={found}>
        {({ overview, limits, queues, written }) => (
          <>
            <Alarms of={overview.alarms} />
            <h2>To decide</h2>
            <Figures of={queues} />
            <h2>Content</h2>
            <Contents of={overview} />
            <h2>Background jobs</h2>
            <Jobs of={overview.outbox} />
            <h2>Settings</h2>
            <Settings of={overview} limits={limits} />
            <h2>The public log</h2>
            <Chart {...written} />
          </>
        )}
      </Shown>
    </Page>
  )
}

/** The numbers of items that need a decision, with the pages where it is made. */
async function readQueues() {
  const one = { limit: 1 }
  const [quarantine, reports, copies, submitted, reviewed, verifications] = await Promise.all([
    api.listQuarantined(one),
    api.listReports({ ...one, status: 'open' }),
    api.listCopyReports({ ...one, status: 'open' }),
    api.listDmca({ ...one, status: 'submitted' }),
    api.listDmca({ ...one, status: 'under_review' }),
    api.listVerifications({ ...one, status: 'pending' }),
  ])
  return [
    ['Quarantined versions', quarantine.total, '/admin/quarantine'],
    ['Open reports', reports.total, '/admin/reports'],
    ['Suspected copies', copies.total, '/admin/copies'],
    ['Takedown cases', submitted.total + reviewed.total, '/admin/dmca'],
    ['Verifications', verifications.total, '/admin/verifications'],
  ] as const
}

/** The data for the chart of the public log, in which each public change is an entry. */
function toWritten({ days }: Overview['log']) {
  const values = days.map(({ entries }) => entries)
  const total = values.reduce((sum, one) => sum + one, 0)
  const label = `${total.toLocaleString('en')} ${total === 1 ? 'entry' : 'entries'} in the last 30 days`
  return { days: days.map(({ day }) => day), series: [{ label: 'Entries', values }], label }
}

function Contents({ of: { counts, search, log, scans } }: { of: Overview }) {
  return (
    <>
      <Figures
        of={[
          ['Skills', counts.skills, '/?sort=recent'],
          ['Versions', counts.versions],
          ['Packs', counts.packs, '/packs'],
          ['Users', counts.users, '/admin/users'],
          ['Entries of the public log', log.size],
          [search.ready ? 'Skills that search finds' : 'In the search index so far', search.documents],
          ['Versions that wait for a scan', scans.pending],
        ]}
      />
      <Rescan />
    </>
  )
}

function Jobs({ of: { pending, due, failed, oldestAt } }: { of: Overview['outbox'] }) {
  const isLate = oldestAt !== null && Date.parse(oldestAt) <= Date.now()
  return (
    <Figures
      of={[
        ['Waiting', pending, '/admin/outbox?status=pending'],
        ['Due now', due],
        ['Failed', failed, '/admin/outbox?status=failed'],
        [isLate ? 'Oldest became due' : 'Next job', oldestAt === null ? 'none' : <Time at={oldestAt} />],
      ]}
    />
  )
}

function Settings({ of, limits: { on, anonymous, plans, limitedTotal } }: { of: Overview; limits: Limits }) {
  const rates = plans.map(({ plan, requestsPerMinute }) => `${plan} ${requestsPerMinute.toLocaleString('en')}`)
  return (
    <Terms
      of={[
        ['Version', of.version ?? 'embedded in another program'],
        ['Started', <Time at={of.startedAt} />],
        ['Name in the log', <code>{of.origin}</code>],
        ['Database', of.database === 'sqlite' ? 'SQLite' : 'PostgreSQL'],
        ['Network', of.network === null ? 'copies no other registry' : toWords(of.network)],
        [
          'Requests a minute',
          on
            ? `guests ${anonymous.toLocaleString('en')} for each address; ${rates.join(', ')}`
            : 'no limits: the node was started with --rate-limits off',
        ],
        ['Refused requests', on ? (limitedTotal?.toLocaleString('en') ?? 'not counted') : null],
      ]}
    />
  )
}

/** A button that starts a scan of all versions at once. After a change of the rules the node starts a scan itself. */
function Rescan() {
  const [waiting, setWaiting] = useState<number>()
  const work = async () => setWaiting((await api.startRescan({})).waiting)
  return (
    <>
      <ConfirmButton class="" action="Scan everything again" title="Scan every version again?" work={work}>
        <p>The scans run in the background and take a while on a large node. Security scores may change.</p>
      </ConfirmButton>
      {waiting !== undefined && <Notice>Pending scans: {toCount(waiting, 'version')}.</Notice>}
    </>
  )
}

/** The upstreams whose sync is paused until an administrator decides. */
const Alarms = ({ of }: { of: Overview['alarms'] }) =>
  of.map(({ upstream, code, message, at }) => (
    <p key={upstream} class="notice bad">
      <Badge tone="bad">{toWords(code)}</Badge> The copy of <a href={addresses.mirror(upstream)}>{upstream}</a> paused{' '}
      <Time at={at} />: {message}
    </p>
  ))
