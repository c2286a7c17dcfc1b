import '../../styles/people.css'
import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { useKeptData } from '../../data/queries.ts'
import { useAddress } from '../../data/use-address.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Page } from '../../ui/page.tsx'
import { Pager, toPageNumber } from '../../ui/pager.tsx'
import { Empty } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { VerifiedMethods } from './verified-methods.tsx'

type Author = Awaited<ReturnType<typeof api.getLeaderboard>>['entries'][number]

const columns = [
  { title: 'Rank', number: true },
  { title: 'Author' },
  { title: 'Score', number: true },
  { title: 'Level' },
  { title: 'Verified' },
  { title: 'Badges' },
]

/** The authors with the highest reputation. */
export default function UsersPage() {
  const page = toPageNumber(useAddress().fields.page)
  const wanted = { page, limit: 20 }
  const found = useKeptData(['authors', wanted], () => api.getLeaderboard(wanted))
  return (
    <Page title="Authors">
      <p class="faint">
        Ranked by reputation, from 0 to 1,000: the quality of an author’s public skills, and reviews by others.
      </p>
      <Shown of={found}>
        {({ entries, totalPages }) =>
          entries.length === 0 ? (
            <Empty>
              <h2>No authors with a reputation yet</h2>
              <p>
                It begins with a public skill. <a href="/account/publish">Publish one</a>
              </p>
            </Empty>
          ) : (
            <>
              <DataTable label="Authors" columns={columns}>
                {entries.map((author) => (
                  <AuthorRow key={author.username} author={author} />
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

function AuthorRow({ author }: { author: Author }) {
  return (
    <tr>
      <td class="number">{author.rank.toLocaleString('en')}</td>
      <th scope="row">
        <a href={addresses.user(author.username)}>
          <bdi>{author.username}</bdi>
        </a>
      </th>
      <td class="number">{author.score.toLocaleString('en')}</td>
      <td>{author.level}</td>
      <td>
        <VerifiedMethods methods={author.verified} />
      </td>
      <td>{author.badges.map(({ title }) => title).join(', ')}</td>
    </tr>
  )
}
