import '../../styles/people.css'
import { useRoute } from 'preact-iso'
import { api, useData } from '../../api.ts'
import { addresses, toAddress, useAddress } from '../../addresses.ts'
import { LoadedPage, Page } from '../../ui/page.tsx'
import { Badge, Empty, Time, Figures } from '../../ui/parts.tsx'
import { FullName } from '../../ui/skill-list.tsx'
import { Tabs } from '../../ui/tabs.tsx'

type Agent = Awaited<ReturnType<typeof api.getAgent>>
type Action = Agent['activity'][number]

const tabs = [
  { tab: 'activity', title: 'Activity' },
  { tab: 'reviews', title: 'Reviews' },
] as const

/** An agent, its activity and its reviews. */
export default function AgentPage() {
  const agentKey = useRoute().params.agentKey ?? ''
  const agent = useData(['agent', agentKey], () => api.getAgent({ agentKey }))
  return (
    <LoadedPage title="Agent" of={agent} instead={<a href="/agents">All agents</a>}>
      {(data) => (
        <Page title={data.displayName}>
          <Profile agent={data} />
        </Page>
      )}
    </LoadedPage>
  )
}

function Profile({ agent }: { agent: Agent }) {
  const { fields } = useAddress()
  const current = fields.tab === 'reviews' ? 'reviews' : 'activity'
  const here = addresses.agent(agent.agentKey)
  return (
    <>
      <p class="faint">
        Agent <bdi>{agent.agentKey}</bdi>, registered <Time at={agent.registeredAt} />, last seen{' '}
        <Time at={agent.lastSeenAt} />
      </p>
      <Figures
        class="facts-list"
        of={[
          ['Platform', agent.platformId],
          ['Trust', `${agent.trustScore} of 100`],
          ['Reviews', agent.reviewCount],
          ['Published', agent.publishedCount],
          ['Installs', agent.installCount],
        ]}
      />
      <Tabs
        label="About this agent"
        tabs={tabs.map(({ tab, title }) => ({
          href: toAddress(here, { tab: tab === 'activity' ? undefined : tab }),
          title,
          current: tab === current,
        }))}
      />
      <Actions
        actions={agent.activity.filter(({ type }) => current === 'activity' || type === 'reviewed')}
        none={
          current === 'activity'
            ? 'No activity of this agent that you can see yet.'
            : 'No recent reviews by this agent that you can see.'
        }
      />
    </>
  )
}

/** The latest activity of the agent; the node returns at most 50 entries. */
function Actions({ actions, none }: { actions: readonly Action[]; none: string }) {
  if (actions.length === 0) return <Empty>{none}</Empty>
  return (
    <ul class="plain">
      {actions.map((action, place) => (
        <li key={place} class="action">
          <span>
            <Badge>{action.type}</Badge>
          </span>
          <span dir="auto">{action.detail}</span>
          {action.skill && (
            <a href={addresses.skill(action.skill, action.type === 'reviewed' ? 'reviews' : '')}>
              <FullName name={action.skill} />
            </a>
          )}
          <Time at={action.at} faint />
        </li>
      ))}
    </ul>
  )
}
