import * as v from 'valibot'
import { Count, Digest, Timestamp, Version, wholeNumber } from './fields.ts'
import { PublisherIdentity } from './trusted-publisher.ts'

/** Limits of a result of an evaluation. Not in `limits`, because every client contains the whole table `limits`. */
const max = {
  nameCharacters: 80,
  cases: 10_000,
  runs: 1_000_000,
  tokens: 1_000_000_000_000,
  tokensPerRun: 100_000_000,
  seconds: 100_000_000,
  signatureCharacters: 1000,
} as const

/**
 * The name of a program or model. Only ASCII characters are allowed: agents read the name in a permanent log entry, and
 * other scripts or invisible characters could hide instructions.
 */
export const ProgramName = v.pipe(
  v.string(),
  v.maxLength(max.nameCharacters),
  v.regex(
    /^[A-Za-z0-9][\w.:@/+()-]*(?: [\w.:@/+()-]+)*$/,
    'must be words of the letters a to z, digits and . _ : @ / + ( ) -, separated by single spaces',
  ),
)

/** Runs of the cases of an evaluation, on one side: with the skill, or without it. */
const EvaluationRuns = v.pipe(
  v.strictObject({
    runs: wholeNumber(1, max.runs),
    passed: wholeNumber(0, max.runs),
    /** Tokens of all runs together. */
    tokens: v.optional(wholeNumber(0, max.tokens)),
    /** Duration of all runs together. */
    seconds: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(max.seconds))),
  }),
  v.check(({ runs, passed }) => passed <= runs, 'must not have more passed runs than runs'),
  v.check(
    ({ runs, tokens = 0 }) => tokens <= runs * max.tokensPerRun,
    `must not have more than ${max.tokensPerRun} tokens for each run`,
  ),
)

/** A signature in the format of `ssh-keygen -Y sign`. */
const SshSignature = v.pipe(
  v.string(),
  v.maxLength(max.signatureCharacters),
  v.regex(
    /^-----BEGIN SSH SIGNATURE-----\n(?:[A-Za-z0-9+/]{1,76}={0,2}\n)+-----END SSH SIGNATURE-----\n$/,
    'must be a signature of ssh-keygen -Y sign',
  ),
)

/** The fields of an {@link EvaluationResult}. */
export const evaluationResult = {
  /** The program that ran the cases, such as `skillstead eval`. */
  runner: ProgramName,
  /** The model of the agent. */
  model: ProgramName,
  /** When the last run ended. */
  ranAt: Timestamp,
  /** Number of different cases. */
  cases: wholeNumber(1, max.cases),
  withSkill: EvaluationRuns,
  withoutSkill: v.optional(EvaluationRuns),
  /** The digest of the list of digests of all transcripts. Transcripts are not stored: they may contain secrets. */
  transcripts: v.optional(Digest),
  /**
   * A signature of `ssh-keygen -Y sign` by an Ed25519 key of the author, as docs/evaluations.md#signatures describes.
   */
  signature: v.optional(SshSignature),
}

/** The numbers of cases and runs of a result. */
interface ResultRuns {
  readonly cases: number
  readonly withSkill: { readonly runs: number }
  readonly withoutSkill?: { readonly runs: number } | undefined
}

/** Whether there are at least as many runs as cases with the skill and, if measured, without it. */
export function hasRunOfEachCase({ cases, withSkill, withoutSkill }: ResultRuns): boolean {
  return cases <= Math.min(withSkill.runs, withoutSkill?.runs ?? Infinity)
}

/** The result of an evaluation of a version, as stated by a user: the node does not verify it. */
export const EvaluationResult = v.pipe(
  v.object(evaluationResult),
  v.check((result) => hasRunOfEachCase(result), 'must not have more cases than runs on a side'),
)
export type EvaluationResult = v.InferOutput<typeof EvaluationResult>

/** A result that a user posted for a version. A new result of the same user for the version replaces it. */
export const Evaluation = v.object({
  author: v.object({ username: v.string() }),
  /** The CI identity that posted the result; absent if a user did. */
  identity: v.optional(PublisherIdentity),
  /** Whether the author could publish the skill when the result was posted. */
  byOwner: v.boolean(),
  version: Version,
  digest: Digest,
  ...evaluationResult,
  /** The key of `signature`, with its fingerprint in the format of `ssh-keygen -l`. */
  signedBy: v.optional(v.object({ publicKey: v.string(), fingerprint: v.string() })),
  postedAt: Timestamp,
})
export type Evaluation = v.InferOutput<typeof Evaluation>

const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))
const Difference = v.pipe(v.number(), v.minValue(-1), v.maxValue(1))
const Rate = v.object({ rate: Share, low: Share, high: Share })

/**
 * How a version does compared with a lower version. `better` and `worse` need an interval of the difference that
 * excludes 0, and the agreement of most users who measured both versions.
 */
const evaluationChanges = ['better', 'worse', 'same'] as const

/**
 * Summary of the results of a version. Each user counts the same: rates are the means of the users' rates. Intervals
 * are of 95 %: Wilson for a rate, Newcombe for a difference.
 */
export const EvaluationSummary = v.object({
  /** Number of users who posted a result. */
  voices: Count,
  /** Number of users who posted a result and could publish the skill themselves. */
  byOwner: Count,
  /** The models in the results, at most ten, the most frequent first. */
  models: v.array(v.string()),
  /** The fingerprints of the SSH keys that signed results, at most ten, the last posted first; absent if none. */
  signedBy: v.optional(v.array(v.string())),
  withSkill: Rate,
  /** The pass rate without the skill, of the users who measured it. */
  withoutSkill: v.optional(Rate),
  /** How much more often a run passes with the skill, by the users who measured with and without it. */
  effect: v.optional(v.object({ value: Difference, low: Difference, high: Difference })),
  /** The lower end of the effect, without results of users who may publish the skill, but with those of their CI. */
  effectLow: v.optional(Difference),
  /**
   * The next lower offered version that the same users measured, with the same model and number of cases. Needs at
   * least three such users, or one who may publish the skill.
   */
  comparedTo: v.optional(Version),
  /** Number of users whose results of both versions were compared. */
  comparedBy: v.optional(Count),
  change: v.optional(v.picklist(evaluationChanges)),
})
export type EvaluationSummary = v.InferOutput<typeof EvaluationSummary>
