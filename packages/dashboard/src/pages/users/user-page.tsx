import '../../styles/people.css'
import { useRoute } from 'preact-iso'
import { addresses, toOwnPath } from '../../addresses.ts'
import { api, useKeptData, useData } from '../../api.ts'
import { useOrganisations } from '../../organisations.ts'
import { useMe } from '../../session.ts'
import { Picture } from '../../ui/own-files.tsx'
import { LoadedPage, Page, Pager, usePage } from '../../ui/page.tsx'
import { Badge, Count, Empty, Time } from '../../ui/parts.tsx'
import { SkillList } from '../../ui/skill-list.tsx'
import { ReputationCard, VerifiedMethods } from './reputation-card.tsx'
import { ActionButton } from '../../ui/form.tsx'

type User = Awaited<ReturnType<typeof api.getUser>>

/** An author with the public skills and the reputation. */
export default function UserPage() {
  const username = useRoute().params.username ?? ''
  // With this key Preact resets the state when the author changes.
  return <Author key={username} username={username} />
}

function Author({ username }: { username: string }) {
  const page = usePage()
  const user = useKeptData(['user', username, page], () => api.getUser({ username, page, limit: 20 }))
  return (
    <LoadedPage title={username} of={user} instead={<a href="/users">All authors</a>}>
      {(data) => (
        <Page
          title={data.displayName || username}
          heading={<Heading user={data} />}
          aside={<FollowButton username={username} />}
        >
          <Profile user={data} />
        </Page>
      )}
    </LoadedPage>
  )
}

const Heading = ({ user: { avatarUrl, displayName, username } }: { user: User }) => (
  <span class="person">
    <Picture path={toOwnPath(avatarUrl)} alt="" width={48} height={48} />
    <span>
      <bdi>{displayName || username}</bdi>
      {displayName && displayName !== username && (
        <small>
          <bdi>{username}</bdi>
        </small>
      )}
    </span>
  </span>
)

function Profile({ user }: { user: User }) {
  const { counts } = user
  const me = useMe()
  const isOrganisation = user.kind === 'organisation'
  const { data } = useOrganisations(isOrganisation)
  const role = data?.organisations.find(({ name }) => name === user.username)?.role
  return (
    <>
      <p class="facts">
        {isOrganisation && <Badge>organisation</Badge>}
        {role !== undefined && <a href={addresses.organisation(user.username)}>Members, teams and rules</a>}
        <VerifiedMethods methods={user.verified} />
        <Count of={counts.skills} unit="skill" />
        <a href={addresses.packsOf(user.username)}>
          <Count of={counts.packs} unit="pack" />
        </a>
        <Count of={counts.followers} unit="follower" />
        {!isOrganisation && <span>follows {counts.following.toLocaleString('en')}</span>}
        <Time at={user.createdAt} verb={isOrganisation ? 'created' : 'joined'} />
      </p>
      {!user.claimed && <p class="hint">Came with an import or a mirror, and cannot sign in here.</p>}
      <div class="side-by-side">
        <section aria-label="Skills">
          <h2>Skills</h2>
          {user.skills.length > 0 ? (
            <SkillList skills={user.skills} />
          ) : me?.username === user.username ? (
            <Empty>
              You have no public skills. <a href="/account/publish">Publish one</a>
            </Empty>
          ) : (
            <Empty>No public skills here.</Empty>
          )}
          <Pager page={user.page} totalPages={user.totalPages} />
        </section>
        <aside>
          <ReputationCard username={user.username} />
        </aside>
      </div>
    </>
  )
}

/** A button that follows or unfollows an author, for signed-in users other than that author. */
function FollowButton({ username }: { username: string }) {
  const me = useMe()
  const isOther = Boolean(me) && me?.username !== username
  const { data } = useData(['follow', username], () => api.getFollow({ username }), isOther)
  if (!isOther || !data) return null
  const work = () => (data.following ? api.unfollowUser({ username }) : api.followUser({ username }))
  return (
    <div>
      <ActionButton work={work}>{data.following ? 'Stop following' : 'Follow'}</ActionButton>
    </div>
  )
}
