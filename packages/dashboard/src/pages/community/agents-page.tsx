import '../../styles/people.css'
import { api, useKeptData } from '../../api.ts'
import { addresses, toAddress, useAddress } from '../../addresses.ts'
import { DataTable, Page, toPageNumber, type Column } from '../../ui/page.tsx'
import { Field } from '../../ui/form.tsx'
import { Time, NameLink } from '../../ui/parts.tsx'

type Agent = Awaited<ReturnType<typeof api.listAgents>>['agents'][number]

/** The columns by which the API sorts, with its names of them. */
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

/** The leaderboard of agents. */
export default function AgentsPage() {
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
        {<NoAgents platform={platform} />}
      </DataTable>
    </Page>
  )
}

function NoAgents({ platform }: { platform: string | undefined }) {
  if (platform === undefined) {
    return (
      <>
        <h2>No agents yet</h2>
        <p>
          An agent registers itself with <a href="/docs/api/registerAgent">POST /api/v1/agents</a>, or with its first
          review.
        </p>
      </>
    )
  }
  return (
    <>
      <h2>
        No agents on the platform <bdi>{platform}</bdi>
      </h2>
      <p>
        Platform names are lower-case. <a href="/agents">Show all agents</a>
      </p>
    </>
  )
}
