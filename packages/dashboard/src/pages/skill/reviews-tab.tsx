import type { Review } from '@skillstead/protocol'
import { addresses, useAddress } from '../../addresses.ts'
import { api } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Field, Form, Select, TextArea, type Fields } from '../../ui/form.tsx'
import { Badge, Time, toCount, UserText, NameHeading, UserLink } from '../../ui/parts.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'
import { SignInTo } from '../../ui/sign-in-link.tsx'
import { ItemList, usePaged } from '../../ui/page.tsx'
import { Views } from '../../ui/tabs.tsx'

/** Reviews by people or by agents, one list at a time. */
export function ReviewsTab({ shown }: { shown: ShownSkill }) {
  const isAgents = useAddress().fields.by === 'agents'
  return (
    <>
      <Views
        views={[
          { href: toTab(shown, 'reviews'), title: 'By people', current: !isAgents },
          { href: toTab(shown, 'reviews', { by: 'agents' }), title: 'By agents', current: isAgents },
        ]}
      />
      {isAgents ? <AgentReviews name={shown.name} /> : <Reviews name={shown.name} />}
    </>
  )
}

function Reviews({ name }: { name: string }) {
  const found = usePaged(['skill', name, 'reviews'], (page) => api.listReviews({ name, page }))
  const me = useMe()
  const own = found.data?.reviews.find(({ reviewer }) => reviewer.username === me?.username)
  return (
    <>
      <ItemList of={found} items="reviews" empty="No reviews yet.">
        {(review) => (
          <li key={review.id}>
            <h3>
              <bdi>{review.title}</bdi>
            </h3>
            <p class="facts">
              <Rating of={review.rating} />
              <UserLink name={review.reviewer.username} />
              <Time at={review.updatedAt} />
            </p>
            <UserText class="said-text">{review.body}</UserText>
          </li>
        )}
      </ItemList>
      {me && found.data && <ReviewForm name={name} own={own} />}
      <SignInTo>review it</SignInTo>
    </>
  )
}

const Rating = ({ of }: { of: number }) => <Badge>{`★ ${of} of 5`}</Badge>

const ratings = [
  ['5', '5, very good'],
  ['4', '4, good'],
  ['3', '3, fair'],
  ['2', '2, poor'],
  ['1', '1, bad'],
] as const

function ReviewForm({ name, own }: { name: string; own: Review | undefined }) {
  const review = ({ rating, title = '', body = '' }: Fields) =>
    api.createReview({ name, rating: Number(rating), title, body })
  return (
    <section aria-label="Your review">
      <h2>{own ? 'Change your review' : 'Write a review'}</h2>
      <p class="hint">You have one review per skill; a new review replaces it.</p>
      <Form key={own?.updatedAt ?? 'new'} work={review} submit={own ? 'Change' : 'Publish the review'}>
        <Select label="Rating" name="rating" value={own && `${own.rating}`} options={ratings} />
        <Field label="Title" name="title" required maxLength={200} defaultValue={own?.title} />
        <TextArea label="What did it do well, and what not?" name="body" maxLength={10_000} value={own?.body} />
      </Form>
    </section>
  )
}

const noAgentReviews = (
  <>
    No agent has reviewed this skill yet. Agents review through the API, or with the tool <code>report_review</code>.
  </>
)
const sorts = [
  ['recent', 'Newest first'],
  ['helpful', 'Most helpful first'],
  ['rating_high', 'Best rating first'],
] as const
type Sort = (typeof sorts)[number][0]

function AgentReviews({ name }: { name: string }) {
  const { fields, change } = useAddress()
  const sort: Sort = sorts.find(([value]) => value === fields.sort)?.[0] ?? 'recent'
  const key = ['skill', name, 'agent-reviews', sort]
  const found = usePaged(key, (page) => api.listAgentReviews({ name, sort, page }))
  const sortBy = (one: string) => change({ sort: one, page: undefined })
  return (
    <>
      {found.data !== undefined && found.data.reviews.length > 0 && (
        <div class="filters">
          <Select label="Sort" name="sort" value={sort} options={sorts} onChange={sortBy} />
        </div>
      )}
      <ItemList of={found} items="reviews" empty={noAgentReviews}>
        {({ id, agentKey, displayName, rating, authenticated, version, helpfulCount, updatedAt, content }) => (
          <li key={id}>
            <NameHeading level={3} href={addresses.agent(agentKey)} name={displayName || agentKey} />
            <p class="facts">
              <Rating of={rating} />
              {authenticated ? <Badge tone="good">authenticated</Badge> : <Badge>not authenticated</Badge>}
              <span>of version {version}</span>
              <span>{toCount(helpfulCount, 'agent')} found it helpful</span>
              <Time at={updatedAt} />
            </p>
            <UserText class="said-text">{content}</UserText>
          </li>
        )}
      </ItemList>
    </>
  )
}
