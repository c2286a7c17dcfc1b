import * as v from 'valibot'
import { keysOf } from '../typed-names.ts'
import { Widens } from './access.ts'
import { Count, Id, Timestamp } from './fields.ts'
import { Recall } from './recall.ts'

const skill = { id: v.string(), name: v.string() }
const FullySkill = v.object({ ...skill, fullName: v.string() })
const User = v.object({ id: v.string(), username: v.string() })
/** A quarantined version; `id` is its id in GET /quarantine/<id>. */
const Submission = v.object({ id: v.string(), fullName: v.string(), version: v.string() })
/** The agent that wrote a review; the review then has an empty `title`, and its content is the `body`. */
const AgentReviewer = v.object({
  agentKey: v.string(),
  displayName: v.string(),
  platformId: v.string(),
  /** Whether the agent sent its token. */
  authenticated: v.boolean(),
})

/** The data of each event, also of the events of mirrors, by the event name in a subscription (docs/api.md#events). */
const eventSchemas = {
  /** A version was published. */
  'skill.published': v.object({
    skill: v.object({ ...FullySkill.entries, version: v.string(), description: v.string(), securityScore: v.number() }),
    publisher: User,
    /** The resources that the version uses and the previous version does not; absent if there are none. */
    widens: v.optional(Widens),
  }),
  /** Versions of a skill were recalled; `ended`: the recall was ended. */
  'skill.recalled': v.object({
    skill: FullySkill,
    recall: v.pick(Recall, ['id', 'range', 'reason', 'at', 'endedAt', 'versions', 'versionCount']),
    ended: v.boolean(),
  }),
  /** A skill of the owner was downloaded or installed; `downloadCount` includes this download. */
  'skill.downloaded': v.object({ skill: FullySkill, client: v.string(), downloadCount: Count }),
  /** A skill of the owner received a star. */
  'skill.starred': v.object({ skill: FullySkill, user: User, starCount: Count }),
  /** A user or an agent reviewed a skill of the owner for the first time. */
  'skill.review.created': v.object({
    skill: v.object(skill),
    review: v.object({ id: v.string(), rating: v.number(), title: v.string(), body: v.string() }),
    reviewer: v.union([v.object({ username: v.string() }), AgentReviewer]),
  }),
  /** A user opened an issue on a skill of the owner. */
  'skill.issue.created': v.object({
    skill: v.object(skill),
    issue: v.object({ id: v.string(), type: v.string(), title: v.string(), body: v.string() }),
    author: v.object({ username: v.string() }),
  }),
  /** A user followed the subscriber. */
  'user.followed': v.object({ follower: User, followerCount: Count }),
  /** A version waits for the approval of the receiver, who is one of its reviewers. */
  'skill.submitted': v.object({ submission: Submission, publisher: User }),
  /** A reviewer decided on a version that the receiver submitted; `published`: the last approval published it. */
  'skill.reviewed': v.object({
    submission: Submission,
    reviewer: User,
    verdict: v.picklist(['approved', 'changes_requested']),
    published: v.boolean(),
  }),
  /** Versions of a skill that a skill of the receiver requires were yanked or recalled. */
  'skill.dependency.withdrawn': v.object({
    /** The skill of the receiver. */
    skill: FullySkill,
    dependency: v.object({
      fullName: v.string(),
      range: v.string(),
      versions: v.array(v.string()),
      reason: v.picklist(['yanked', 'recalled']),
    }),
    /** The highest version in the range that is still offered; null if there is none. */
    replacement: v.nullable(v.string()),
  }),
  /** The sync of an upstream is paused until an administrator decides; only administrators receive this event. */
  'mirror.alarm': v.object({
    upstream: v.object({ name: v.string(), location: v.string() }),
    alarm: v.object({ code: v.string(), message: v.string() }),
  }),
} as const

/** The name of an event that a webhook can subscribe to. */
export type EventName = keyof typeof eventSchemas
/** The data of an event. */
export type EventData<Name extends EventName = EventName> = v.InferOutput<(typeof eventSchemas)[Name]>

/** All names of events. */
export const eventNames = keysOf(eventSchemas)

/** The event of a test delivery that a webhook's owner requests. Cannot be subscribed to. */
export const pingEvent = 'ping'
const PingData = v.object({ webhook: v.object({ id: v.string() }) })

const envelope = {
  /** The same in every delivery of one event, so that receivers can de-duplicate. */
  id: Id,
  timestamp: Timestamp,
}

/** The body of a delivery (docs/api.md#events): an envelope with the data of its event. */
export const WebhookEvent = v.variant('event', [
  v.object({ ...envelope, event: v.literal('skill.published'), data: eventSchemas['skill.published'] }),
  v.object({ ...envelope, event: v.literal('skill.recalled'), data: eventSchemas['skill.recalled'] }),
  v.object({ ...envelope, event: v.literal('skill.downloaded'), data: eventSchemas['skill.downloaded'] }),
  v.object({ ...envelope, event: v.literal('skill.starred'), data: eventSchemas['skill.starred'] }),
  v.object({ ...envelope, event: v.literal('skill.review.created'), data: eventSchemas['skill.review.created'] }),
  v.object({ ...envelope, event: v.literal('skill.issue.created'), data: eventSchemas['skill.issue.created'] }),
  v.object({ ...envelope, event: v.literal('user.followed'), data: eventSchemas['user.followed'] }),
  v.object({ ...envelope, event: v.literal('skill.submitted'), data: eventSchemas['skill.submitted'] }),
  v.object({ ...envelope, event: v.literal('skill.reviewed'), data: eventSchemas['skill.reviewed'] }),
  v.object({
    ...envelope,
    event: v.literal('skill.dependency.withdrawn'),
    data: eventSchemas['skill.dependency.withdrawn'],
  }),
  v.object({ ...envelope, event: v.literal('mirror.alarm'), data: eventSchemas['mirror.alarm'] }),
  v.object({ ...envelope, event: v.literal(pingEvent), data: PingData }),
])
export type WebhookEvent = v.InferOutput<typeof WebhookEvent>

/** Whether a value is the body of a delivery. Stops at the first invalid field. */
export function isWebhookEvent(value: unknown): value is WebhookEvent {
  return v.is(WebhookEvent, value)
}
