import '../../styles/people.css'
import { api, useKeptData } from '../../api.ts'
import { DataTable, Page, usePage, type Column } from '../../ui/page.tsx'
import { Badge, UserLink } from '../../ui/parts.tsx'
import { VerifiedMethods } from './reputation-card.tsx'

type Author = Awaited<ReturnType<typeof api.getLeaderboard>>['entries'][number]

const columns: readonly Column<Author>[] = [
  { title: 'Rank', number: true, cell: ({ rank }) => rank.toLocaleString('en') },
  { title: 'Author', names: true, cell: ({ username }) => <UserLink name={username} /> },
  { title: 'Score', number: true, cell: ({ score }) => score.toLocaleString('en') },
  { title: 'Level', cell: ({ level }) => level },
  { title: 'Verified', cell: ({ verified }) => <VerifiedMethods methods={verified} /> },
  { title: 'Badges', cell: ({ badges }) => <span class="row">{badges.map(toBadge)}</span> },
]

const toBadge = ({ id, title }: Author['badges'][number]) => <Badge key={id}>{title}</Badge>

/** The authors with the highest reputation. */
export default function UsersPage() {
  const wanted = { page: usePage(), limit: 20 }
  const found = useKeptData(['authors', wanted], () => api.getLeaderboard(wanted))
  return (
    <Page
      title="Authors"
      hint="Who publishes skills here, ranked by reputation from 0 to 1,000: the quality of the skills, and reviews by others."
    >
      <DataTable of={found} items="entries" label="Authors" columns={columns} rowKey="username">
        <h2>No authors with a reputation yet</h2>
        <p>
          It begins with a public skill. <a href="/account/publish">Publish one</a>
        </p>
      </DataTable>
    </Page>
  )
}
