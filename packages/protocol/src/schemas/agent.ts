import * as v from 'valibot'
import { Widens } from './access.ts'
import { Count, Id, Term, Timestamp, Version, boundedText } from './fields.ts'
import { Recalled, Skill } from './skill.ts'

/** A platform name, which is normalised: `VSCode` becomes `vscode`, and `Claude Code` becomes `claude-code`. */
export const PlatformId = v.pipe(
  v.string(),
  v.transform(toPlatformName),
  v.regex(/^[a-z0-9._-]{1,128}$/, 'must be 1 to 128 letters, digits, spaces, ., _ or -'),
)
export const AgentKey = v.pipe(
  v.string(),
  v.transform(toAgentKey),
  v.regex(
    /^[a-z0-9._-]{1,128}:[A-Za-z0-9._-]{1,128}$/,
    'must be <platformId>:<instanceId>, each of letters, digits, ., _ or -',
  ),
)

/** Normalised key or platform of an agent, for lookups: an invalid key is not an error, but matches no agent. */
export const AgentRef = v.pipe(Term, v.transform(toAgentKey))
export const PlatformRef = v.pipe(Term, v.transform(toPlatformName))
/** The agent that installed a skill: a platform, optionally followed by a colon and a name. */
export const ReportedAgent = v.pipe(
  boundedText(128),
  v.transform((agent) => toAgentKey(agent.trim())),
)

function toAgentKey(key: string): string {
  return key.replace(/^[^:]*/, toPlatformName)
}

function toPlatformName(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-')
}

/** An agent: an automated client that registered itself. */
export const Agent = v.object({
  agentKey: v.string(),
  displayName: v.string(),
  platformId: v.string(),
  trustScore: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  reviewCount: Count,
  publishedCount: Count,
  installCount: Count,
  registeredAt: Timestamp,
  lastSeenAt: Timestamp,
})
export type Agent = v.InferOutput<typeof Agent>

/** An activity of an agent. */
export const AgentActivity = v.object({
  type: v.picklist(['registered', 'reviewed', 'published', 'installed', 'removed']),
  at: Timestamp,
  skill: v.optional(v.string()),
  detail: v.string(),
})
export type AgentActivity = v.InferOutput<typeof AgentActivity>

/** A review of a skill by an agent. */
export const AgentReview = v.object({
  id: Id,
  agentKey: v.string(),
  displayName: v.string(),
  platformId: v.string(),
  rating: v.number(),
  content: v.string(),
  authenticated: v.boolean(),
  helpfulCount: Count,
  version: v.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type AgentReview = v.InferOutput<typeof AgentReview>

/** Why an agent should review a skill that it has installed, the most severe first. */
export const updateReasons = [
  'taken_down',
  'flagged',
  'recalled',
  'yanked',
  'drifted',
  'dependency_withdrawn',
  'deprecated',
  'outdated',
] as const

/** The answer to a heartbeat. */
export const HeartbeatResult = v.object({
  updates: v.array(
    v.object({
      skillName: v.string(),
      fullName: v.string(),
      installedVersion: v.string(),
      /** Empty if there is no version to install. */
      latestVersion: v.string(),
      reason: v.picklist(updateReasons),
      /** The recall of the installed version; its reason is text of the owner or an administrator. */
      recalled: v.optional(Recalled),
      /**
       * Sentences of the registry with names, versions and numbers. They contain no text of an author, because authors
       * could give the agent instructions.
       */
      message: v.string(),
      /** The author's deprecation message, verbatim; empty for other skills. */
      deprecationMessage: v.string(),
      /** Full name of a skill to use instead. */
      replacement: v.nullable(v.string()),
      /**
       * The resources that the latest version uses and the installed version does not; null if there are none, or if
       * they are unknown.
       */
      widens: v.nullable(Widens),
      /** A lower version that does better in evaluations by users than the latest version; only for `outdated`. */
      worseThan: v.optional(Version),
    }),
  ),
  /** Names in the request of skills that do not exist or that the caller may not see. */
  unknown: v.array(v.string()),
  /** Best first; scores are from 0 to 1. */
  recommendations: v.array(
    v.object({
      skill: Skill,
      score: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
      /** Sentences of the registry without text of an author, like `message`. */
      reason: v.string(),
      /** The pack that contains both this skill and an installed skill, if that is why it is recommended. */
      pack: v.nullable(v.object({ slug: v.string(), name: v.string() })),
    }),
  ),
  serverTime: Timestamp,
  nextHeartbeatSeconds: Count,
})
export type HeartbeatResult = v.InferOutput<typeof HeartbeatResult>
