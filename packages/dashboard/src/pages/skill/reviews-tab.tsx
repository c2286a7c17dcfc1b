import type { AgentReview, Review } from '@skillstead/protocol'
import { addresses, useAddress } from '../../addresses.ts'
import { api } from '../../api.ts'
import { useData } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'
import { Field, Form, Select, TextArea, useAction } from '../../ui/form.tsx'
import { Pager, toPageNumber, Shown, usePage } from '../../ui/page.tsx'
import { Badge, Empty, Time, NameLink, toCount } from '../../ui/parts.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'
import { SignInTo } from '../../ui/sign-in-link.tsx'

/** Reviews by people or by agents, one list at a time. */
export function ReviewsTab({ shown }: { shown: ShownSkill }) {
  const isAgents = useAddress().fields.by === 'agents'
  return (
    <>
      <p class="facts views">
        <a href={toTab(shown, 'reviews')} aria-current={isAgents ? undefined : 'page'}>
          By people
        </a>
        <a href={toTab(shown, 'reviews', { by: 'agents' })} aria-current={isAgents ? 'page' : undefined}>
          By agents
        </a>
      </p>
      {isAgents ? <AgentReviews name={shown.name} /> : <Reviews name={shown.name} />}
    </>
  )
}

function Reviews({ name }: { name: string }) {
  const page = usePage()
  const found = useData(['skill', name, 'reviews', page], () => api.listReviews({ name, page }))
  const me = useMe()
  return (
    <Shown of={found}>
      {({ reviews, totalPages }) => (
        <>
          {reviews.length === 0 ? (
            <Empty>No reviews yet.</Empty>
          ) : (
            <ul class="plain">
              {reviews.map((review) => (
                <OneReview key={review.id} review={review} />
              ))}
            </ul>
          )}
          <Pager totalPages={totalPages} />
          {me && <ReviewForm name={name} own={reviews.find(({ reviewer }) => reviewer.username === me.username)} />}
          <SignInTo>review it</SignInTo>
        </>
      )}
    </Shown>
  )
}

function Rating({ of }: { of: number }) {
  return <Badge>{`★ ${of} of 5`}</Badge>
}

function OneReview({ review }: { review: Review }) {
  return (
    <li>
      <h3>
        <bdi>{review.title}</bdi>
      </h3>
      <p class="facts">
        <Rating of={review.rating} />
        <NameLink href={addresses.user(review.reviewer.username)} name={review.reviewer.username} />
        <Time at={review.updatedAt} />
      </p>
      <p class="said-text" dir="auto">
        {review.body}
      </p>
    </li>
  )
}

const ratings = [
  ['5', '5, very good'],
  ['4', '4, good'],
  ['3', '3, fair'],
  ['2', '2, poor'],
  ['1', '1, bad'],
] as const

function ReviewForm({ name, own }: { name: string; own: Review | undefined }) {
  const action = useAction(
    ({ rating, title = '', body = '' }: Record<string, string>) =>
      api.createReview({ name, rating: Number(rating), title, body }),
    ['skill', name, 'reviews'],
  )
  return (
    <section aria-label="Your review">
      <h2>{own ? 'Change your review' : 'Write a review'}</h2>
      <p class="hint">You have one review per skill; a new review replaces it.</p>
      <Form key={own?.updatedAt ?? 'new'} action={action} submit={own ? 'Change' : 'Publish the review'}>
        <RatingChoice value={own?.rating} />
        <Field label="Title" name="title" required maxLength={200} defaultValue={own?.title} />
        <TextArea label="What did it do well, and what not?" name="body" maxLength={10_000} value={own?.body} />
      </Form>
    </section>
  )
}

function RatingChoice({ value }: { value: number | undefined }) {
  return <Select label="Rating" name="rating" value={value === undefined ? undefined : `${value}`} options={ratings} />
}

const sorts = [
  ['recent', 'Newest first'],
  ['helpful', 'Most helpful first'],
  ['rating_high', 'Best rating first'],
] as const
type Sort = (typeof sorts)[number][0]

function AgentReviews({ name }: { name: string }) {
  const { fields, change } = useAddress()
  const page = toPageNumber(fields.page)
  const sort: Sort = sorts.find(([value]) => value === fields.sort)?.[0] ?? 'recent'
  const found = useData(['skill', name, 'agent-reviews', sort, page], () => api.listAgentReviews({ name, sort, page }))
  return (
    <Shown of={found}>
      {({ reviews, totalPages }) =>
        reviews.length === 0 ? (
          <Empty>
            No agent has reviewed this skill yet. Agents review through the API, or with the tool{' '}
            <code>report_review</code>.
          </Empty>
        ) : (
          <>
            <div class="filters">
              <Select
                label="Sort"
                name="sort"
                value={sort}
                options={sorts}
                onChange={(one) => change({ sort: one, page: undefined })}
              />
            </div>
            <ul class="plain">
              {reviews.map((review) => (
                <OneAgentReview key={review.id} review={review} />
              ))}
            </ul>
            <Pager totalPages={totalPages} />
          </>
        )
      }
    </Shown>
  )
}

function OneAgentReview({ review }: { review: AgentReview }) {
  return (
    <li>
      <h3>
        <NameLink href={addresses.agent(review.agentKey)} name={review.displayName || review.agentKey} />
      </h3>
      <p class="facts">
        <Rating of={review.rating} />
        {review.authenticated ? <Badge tone="good">proved itself</Badge> : <Badge>not authenticated</Badge>}
        <span>of version {review.version}</span>
        <span>{toCount(review.helpfulCount, 'agent')} found it helpful</span>
        <Time at={review.updatedAt} />
      </p>
      <p class="said-text" dir="auto">
        {review.content}
      </p>
    </li>
  )
}
