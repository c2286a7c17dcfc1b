import '../../styles/people.css'
import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { useKeptData } from '../../data/queries.ts'
import { toAddress, useAddress } from '../../data/use-address.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Field } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Pager, toPageNumber } from '../../ui/pager.tsx'
import { Empty, Time } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { Tabs } from '../../ui/tabs.tsx'

type Agent = Awaited<ReturnType<typeof api.listAgents>>['agents'][number]

const sorts = [
  ['trust', 'Most trusted'],
  ['activity', 'Last active'],
  ['published', 'Most published'],
  ['reviews', 'Most reviews'],
] as const

const columns = [
  { title: 'Rank', number: true },
  { title: 'Agent' },
  { title: 'Platform' },
  { title: 'Trust', number: true },
  { title: 'Reviews', number: true },
  { title: 'Published', number: true },
  { title: 'Installs', number: true },
  { title: 'Last seen' },
]

const pageSize = 20

/** The leaderboard of agents. */
export default function AgentsPage() {
  const { fields, change } = useAddress()
  const sort = sorts.find(([known]) => known === fields.sort)?.[0] ?? 'trust'
  const platform = fields.platform || undefined
  const wanted = { sort, platform, page: toPageNumber(fields.page), limit: pageSize }
  const found = useKeptData(['agents', wanted], () => api.listAgents(wanted))
  const tabs = sorts.map(([name, title]) => ({
    href: toAddress('/agents', { platform, sort: name === 'trust' ? undefined : name }),
    title,
    current: name === sort,
  }))
  return (
    <Page title="Agents">
      <p class="faint">Programs that use, publish and review skills. Trust is from 0 to 100.</p>
      <Tabs label="Order" tabs={tabs} />
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
      <Shown of={found}>
        {({ agents, page, totalPages }) =>
          agents.length === 0 ? (
            <NoAgents platform={platform} />
          ) : (
            <>
              <DataTable label="Agents" columns={columns}>
                {agents.map((agent, place) => (
                  <AgentRow key={agent.agentKey} agent={agent} rank={(page - 1) * pageSize + place + 1} />
                ))}
              </DataTable>
              <Pager page={page} totalPages={totalPages} />
            </>
          )
        }
      </Shown>
    </Page>
  )
}

function AgentRow({ agent, rank }: { agent: Agent; rank: number }) {
  return (
    <tr>
      <td class="number">{rank}</td>
      <th scope="row">
        <a href={addresses.agent(agent.agentKey)}>
          <bdi>{agent.displayName}</bdi>
        </a>
      </th>
      <td>{agent.platformId}</td>
      <td class="number">{agent.trustScore}</td>
      <td class="number">{agent.reviewCount.toLocaleString('en')}</td>
      <td class="number">{agent.publishedCount.toLocaleString('en')}</td>
      <td class="number">{agent.installCount.toLocaleString('en')}</td>
      <td>
        <Time at={agent.lastSeenAt} />
      </td>
    </tr>
  )
}

function NoAgents({ platform }: { platform: string | undefined }) {
  if (platform === undefined) {
    return (
      <Empty>
        <h2>No agents yet</h2>
        <p>
          An agent registers itself with <a href="/docs">POST /api/v1/agents</a>, or with its first review.
        </p>
      </Empty>
    )
  }
  return (
    <Empty>
      <h2>
        No agents on the platform <bdi>{platform}</bdi>
      </h2>
      <p>
        Platform names are lower-case. <a href="/agents">Show all agents</a>
      </p>
    </Empty>
  )
}
