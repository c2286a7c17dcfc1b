import '../../styles/people.css'
import { api, useKeptData, useData } from '../../api.ts'
import { addresses, toAddress, useAddress } from '../../addresses.ts'
import { DataTable, Page, toPageNumber, type Column, LoadedPage } from '../../ui/page.tsx'
import { Field } from '../../ui/form.tsx'
import { Time, NameLink, Badge, Empty, Figures } from '../../ui/parts.tsx'
import { useRoute } from 'preact-iso'
import { FullName } from '../../ui/skill-list.tsx'
import { useTabs } from '../../ui/address-choice.tsx'

type Agent = Awaited<ReturnType<typeof api.listAgents>>['agents'][number]

/** The columns by which the API sorts, with their names in the API. */
const sorts: Readonly<Record<string, NonNullable<Parameters<typeof api.listAgents>[0]>['sort']>> = {
  Trust: 'trust',
  Reviews: 'reviews',
  Published: 'published',
  'Last seen': 'activity',
}

const columns: readonly Column<Agent & { rank: number }>[] = [
  { title: 'Rank', number: true, cell: ({ rank }) => rank },
  {
    title: 'Agent',
    names: true,
    cell: ({ agentKey, displayName }) => <NameLink href={addresses.agent(agentKey)} name={displayName} />,
  },
  { title: 'Platform', cell: ({ platformId }) => platformId },
  { title: 'Trust', number: true, cell: ({ trustScore }) => trustScore },
  { title: 'Reviews', number: true, cell: ({ reviewCount }) => reviewCount.toLocaleString('en') },
  { title: 'Published', number: true, cell: ({ publishedCount }) => publishedCount.toLocaleString('en') },
  { title: 'Installs', number: true, cell: ({ installCount }) => installCount.toLocaleString('en') },
  { title: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
]

const pageSize = 20

/** The agents, or the agent that the address names. */
export default function AgentsPages() {
  const { agentKey } = useRoute().params
  return agentKey === undefined ? <AgentsPage /> : <AgentPage agentKey={agentKey} />
}

/** The leaderboard of agents. */
function AgentsPage() {
  const { fields, change } = useAddress()
  const sort = Object.values(sorts).find((known) => known === fields.sort) ?? 'trust'
  const platform = fields.platform || undefined
  const wanted = { sort, platform, page: toPageNumber(fields.page), limit: pageSize }
  const found = useKeptData(['agents', wanted], async () => {
    const { agents, page, ...rest } = await api.listAgents(wanted)
    return { ...rest, agents: agents.map((agent, place) => ({ ...agent, rank: (page - 1) * pageSize + place + 1 })) }
  })
  const toSorted = (name: (typeof sorts)[string]) =>
    name && {
      href: toAddress('/agents', { platform, sort: name === 'trust' ? undefined : name }),
      current: name === sort,
    }
  return (
    <Page title="Agents" hint="Programs that use, publish and review skills. Trust is from 0 to 100.">
      <div class="filters">
        <Field
          key={platform}
          label="Platform"
          name="platform"
          autocomplete="off"
          maxLength={128}
          placeholder="All platforms"
          defaultValue={platform}
          onChange={(event) => change({ platform: event.currentTarget.value.trim(), page: undefined })}
        />
      </div>
      <DataTable
        of={found}
        items="agents"
        label="Agents"
        columns={columns.map((column) => ({ ...column, sorted: toSorted(sorts[column.title]) }))}
        rowKey="agentKey"
      >
        <NoAgents platform={platform} />
      </DataTable>
    </Page>
  )
}

const NoAgents = ({ platform }: { platform: string | undefined }) =>
  platform === undefined ? (
    <>
      <h2>No agents yet</h2>
      <p>
        An agent registers itself with <a href="/docs/api/registerAgent">POST /api/v1/agents</a>, or with its first
        review.
      </p>
    </>
  ) : (
    <>
      <h2>
        No agents on the platform <bdi>{platform}</bdi>
      </h2>
      <p>
        Platform names are lower-case. <a href="/agents">Show all agents</a>
      </p>
    </>
  )

/** An agent, its activity and its reviews. */
function AgentPage({ agentKey }: { agentKey: string }) {
  const found = useData(['agent', agentKey], () => api.getAgent({ agentKey }))
  return (
    <LoadedPage title="Agent" of={found} instead={<a href="/agents">All agents</a>}>
      {(agent) => (
        <Page title={agent.displayName}>
          <p class="faint">
            Agent <bdi>{agentKey}</bdi>, registered <Time at={agent.registeredAt} />, last seen{' '}
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
          <Activity of={agent.activity} />
        </Page>
      )}
    </LoadedPage>
  )
}

const activityTabs = [
  ['activity', 'Activity', 'No activity of this agent that you can see yet.'],
  ['reviews', 'Reviews', 'No recent reviews by this agent that you can see.'],
] as const

/** The latest activity of the agent; the node returns at most 50 entries. */
function Activity({ of }: { of: Awaited<ReturnType<typeof api.getAgent>>['activity'] }) {
  const [current, tabs] = useTabs('About this agent', 'tab', activityTabs)
  const actions = of.filter(({ type }) => current === 'activity' || type === 'reviewed')
  return (
    <>
      {tabs}
      {actions.length === 0 && <Empty>{activityTabs.find(([tab]) => tab === current)![2]}</Empty>}
      {actions.length > 0 && (
        <ul class="plain">
          {actions.map(({ type, detail, skill, at }, place) => (
            <li key={place} class="action">
              <span>
                <Badge>{type}</Badge>
              </span>
              <span dir="auto">{detail}</span>
              {skill && (
                <a href={addresses.skill(skill, type === 'reviewed' ? 'reviews' : '')}>
                  <FullName name={skill} />
                </a>
              )}
              <Time at={at} faint />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
