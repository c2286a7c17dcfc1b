import { useState } from 'preact/hooks'
import { api, reloadData, useData } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { ConfirmButton } from '../../ui/form.tsx'
import { Page, Shown } from '../../ui/page.tsx'
import { Badge, Notice, Time, toCount, Figures } from '../../ui/parts.tsx'

type Overview = Awaited<ReturnType<typeof api.getOverview>>

/** The state of the node; problems that need attention come first. */
export function NodePage() {
  const overview = useData(['operator', 'overview'], () => api.getOverview())
  return (
    <Page title="This node" aside={<button onClick={() => void overview.refetch()}>Refresh</button>}>
      <Shown of={overview}>{(found) => <OverviewShown of={found} />}</Shown>
      <RateLimits />
    </Page>
  )
}

function OverviewShown({ of }: { of: Overview }) {
  const { counts, outbox, search, log } = of
  return (
    <>
      <Alarms of={of.alarms} />
      <Figures
        of={[
          ['Skills', counts.skills],
          ['Versions', counts.versions],
          ['Users', counts.users],
          ['Packs', counts.packs],
          ['Search index', search.ready ? search.documents : `filling, ${search.documents.toLocaleString('en')}`],
          ['Log entries', log.size],
          ['Pending scans', of.scans.pending],
        ]}
      />
      <Rescan />
      <h2>Outbox</h2>
      <Figures
        of={[
          ['Waiting', outbox.pending],
          ['Due now', outbox.due],
          ['Failed', <a href="/admin/outbox?status=failed">{outbox.failed.toLocaleString('en')}</a>],
          ['Oldest due since', outbox.oldestAt ? <Time at={outbox.oldestAt} /> : 'nothing pending'],
        ]}
      />
      <h2>Program</h2>
      <Figures
        of={[
          ['Version', of.version ?? 'embedded'],
          ['Started', <Time at={of.startedAt} />],
          ['Name in the log', of.origin],
          ['Database', of.database === 'sqlite' ? 'SQLite' : 'PostgreSQL'],
          ['Network mode', of.network ?? 'never'],
        ]}
      />
    </>
  )
}

/** The node itself rescans after new rules; this button starts a rescan at once. */
function Rescan() {
  const [waiting, setWaiting] = useState<number>()
  const work = async () => {
    setWaiting((await api.startRescan({})).waiting)
    await reloadData('operator')
  }
  return (
    <>
      <ConfirmButton action="Scan everything again" title="Scan every version again?" work={work}>
        <p>The scans run in the background and take a while on a large node. Security scores may change.</p>
      </ConfirmButton>
      {waiting !== undefined && <Notice>Pending scans: {toCount(waiting, 'version')}.</Notice>}
    </>
  )
}

function Alarms({ of }: { of: Overview['alarms'] }) {
  if (of.length === 0) return <p class="good">No alarms.</p>
  return (
    <ul class="plain" aria-label="Alarms">
      {of.map(({ upstream, code, message, at }) => (
        <li key={upstream}>
          <p class="facts">
            <Badge tone="bad">{code.replaceAll('_', ' ')}</Badge>
            <a href={addresses.mirror(upstream)}>{upstream}</a>
            <Time at={at} />
          </p>
          <p>{message}</p>
        </li>
      ))}
    </ul>
  )
}

function RateLimits() {
  const limits = useData(['operator', 'rate-limits'], () => api.getRateLimits())
  return (
    <section>
      <h2>Requests per minute</h2>
      <Shown of={limits}>
        {({ on, anonymous, plans, limitedTotal }) =>
          on ? (
            <Figures
              of={[
                ['Without a key, per address', anonymous],
                ...plans.map(({ plan, requestsPerMinute }) => [`Plan ${plan}`, requestsPerMinute] as const),
                ['Refused since the start', limitedTotal ?? 'not counted'],
              ]}
            />
          ) : (
            <p>There are no limits: the node was started with --rate-limits off.</p>
          )
        }
      </Shown>
    </section>
  )
}
