import '../../styles/people.css'
import { useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { useData } from '../../data/queries.ts'
import { toAddress, useAddress } from '../../data/use-address.ts'
import { Page } from '../../ui/page.tsx'
import { Badge, Empty, Time } from '../../ui/parts.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Shown } from '../../ui/shown.tsx'
import { Tabs } from '../../ui/tabs.tsx'

type Agent = Awaited<ReturnType<typeof api.getAgent>>
type Deed = Agent['activity'][number]

const tabs = [
  { tab: 'activity', title: 'Activity' },
  { tab: 'reviews', title: 'Reviews' },
] as const

/** An agent, its activity and its reviews. */
export default function AgentPage() {
  const agentKey = useRoute().params.agentKey ?? ''
  const agent = useData(['agent', agentKey], () => api.getAgent({ agentKey }))
  if (agent.error && !agent.data) {
    return (
      <Page title="Agent">
        <Problem error={agent.error} retry={agent.refetch} />
        <a href="/agents">All agents</a>
      </Page>
    )
  }
  return (
    <Page title={agent.data?.displayName ?? 'Agent'}>
      <Shown of={agent}>{(data) => <Profile agent={data} />}</Shown>
    </Page>
  )
}

function Profile({ agent }: { agent: Agent }) {
  const { fields } = useAddress()
  const current = fields.tab === 'reviews' ? 'reviews' : 'activity'
  const here = addresses.agent(agent.agentKey)
  return (
    <>
      <p class="faint">
        <bdi>{agent.agentKey}</bdi>, registered <Time at={agent.registeredAt} />, last seen{' '}
        <Time at={agent.lastSeenAt} />
      </p>
      <Numbers agent={agent} />
      <Tabs
        label="About this agent"
        tabs={tabs.map(({ tab, title }) => ({
          href: toAddress(here, { tab: tab === 'activity' ? undefined : tab }),
          title,
          current: tab === current,
        }))}
      />
      {current === 'reviews' ? (
        <Deeds
          deeds={agent.activity.filter(({ type }) => type === 'reviewed')}
          none="No recent reviews by this agent that you can see."
        />
      ) : (
        <Deeds deeds={agent.activity} none="No activity of this agent that you can see yet." />
      )}
    </>
  )
}

function Numbers({ agent }: { agent: Agent }) {
  const numbers = [
    ['Platform', agent.platformId],
    ['Trust', `${agent.trustScore} of 100`],
    ['Reviews', agent.reviewCount.toLocaleString('en')],
    ['Published', agent.publishedCount.toLocaleString('en')],
    ['Installs', agent.installCount.toLocaleString('en')],
  ]
  return (
    <dl class="facts-list">
      {numbers.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Its latest activity; the node returns at most 50 entries. */
function Deeds({ deeds, none }: { deeds: readonly Deed[]; none: string }) {
  if (deeds.length === 0) return <Empty>{none}</Empty>
  return (
    <ul class="plain">
      {deeds.map((deed, place) => (
        <li key={place} class="deed">
          <span>
            <Badge>{deed.type}</Badge>
          </span>
          <span dir="auto">{deed.detail}</span>
          {deed.skill && (
            <a href={addresses.skill(deed.skill, deed.type === 'reviewed' ? 'reviews' : '')}>
              <bdi>{deed.skill}</bdi>
            </a>
          )}
          <span class="faint">
            <Time at={deed.at} />
          </span>
        </li>
      ))}
    </ul>
  )
}
