import * as v from 'valibot'
import type { SignedSubject } from '@skillstead/core/internal'
import { type EvaluationResult, ProgramName, toOneLine, toErrorText } from '@skillstead/protocol'
import { UsageError, textOption, type Arguments } from '../command/command.ts'
import { parseSkillWord } from '../command/values.ts'
import { isCiJob, withCiKey } from '../registry/ci-key.ts'
import { findNode, withApi } from '../registry/place.ts'
import { readVariable } from '../terminal/io.ts'
import type { EvalReport } from './eval-reports.ts'
import { findSigningKey, signText } from './sign-result.ts'
import { isCompared, spoiltShareMax, type ArmTotals } from './summary.ts'

/** A version that a result is posted for. */
export interface PostedVersion {
  readonly name: string
  readonly version: string
  /** The file of the key that signs the result; undefined for an unsigned result. */
  readonly key?: string | undefined
}

/** How a result is posted. */
export interface Posting {
  /** The arguments for the post; in a CI job with the key that its token was exchanged for, which is possible only once. */
  readonly given: Arguments
  /** The author, and the id of the skill, if the result is signed. */
  readonly signed?: Pick<SignedSubject, 'author' | 'skill'>
}

/**
 * The version that `--post` names; undefined without `--post`. Throws {@link UsageError} if the version, the model, the
 * node or its key is missing or invalid.
 */
export function findPostedVersion(given: Arguments): PostedVersion | undefined {
  const word = textOption(given, 'post')
  const key = findSigningKey(given)
  if (word === undefined) return undefined
  const { name, version } = parseSkillWord(word)
  if (version === undefined || version === '')
    throw new UsageError(`'${toOneLine(word)}' names no version. Use the form NAME@VERSION.`)
  const model = textOption(given, 'model')
  if (model === undefined) throw new UsageError('A posted result names its model. Pass --model NAME.')
  // Nodes check the name of the model in the same way, but only after the agents ran.
  if (!v.is(ProgramName, model))
    throw new UsageError(
      `'${toOneLine(model)}' is not a valid model name. Use up to 80 letters, digits, spaces and . _ : @ / + ( ) -.`,
    )
  const node = findNode(given)
  if (!node || (node.apiKey === undefined && !isCiJob(given.io.env)))
    throw new UsageError('--post needs a node and a key. Log in, or pass --url URL and --key KEY.')
  if (node.apiKey === undefined && !name.includes('/'))
    throw new UsageError('A CI job posts for one owner. Use the form --post OWNER/NAME@VERSION.')
  return { name, version, key }
}

/** Throws, before agents cost money, if the folder is not the version or the token of a CI job is not accepted. */
export async function preparePost(
  given: Arguments,
  { name, version, key: file }: PostedVersion,
  digest: string,
): Promise<Posting> {
  const node = findNode(given)!
  const key = (await withCiKey(given.io, node, toNamedOwner(name))).apiKey
  const keyed = { ...given, options: { ...given.options, key } }
  const posted = readVariable(given.io.env, 'SKILLSTEAD_ID_TOKEN') === undefined ? given : keyed
  return withApi(keyed, async (api) => {
    const published = await api.getVersion({ name, version })
    if (published.digest !== digest)
      throw new Error(
        `The folder is not ${name}@${version}: its digest is ${digest}, and that of the version ${toOneLine(published.digest)}. Publish it first, or evaluate the files of that version.`,
      )
    if (file === undefined) return { given: posted }
    const [{ id }, { username }] = [await api.getSkill({ name }), await api.getMe({})]
    return { given: posted, signed: { author: username, skill: id } }
  })
}

function toNamedOwner(name: string): string | null {
  return name.includes('/') ? name.slice(0, name.indexOf('/')) : null
}

/**
 * Posts the counted runs, and of the transcripts the digest of their list. Throws if too many runs are broken or not
 * judged.
 */
export async function postResult(
  { given, signed }: Posting,
  { name, version, key }: PostedVersion,
  report: EvalReport,
  list: string,
): Promise<void> {
  const { withSkill, withoutSkill, isSpoilt, runs, cases, skill, runner, model, ranAt } = report
  if (withSkill.runs === 0)
    throw new Error(
      'The result was not posted: no case has judged runs both with the skill and without it. Fix the cause that the report states.',
    )
  if (withSkill.broken + withoutSkill.broken > spoiltShareMax * runs.length)
    throw new Error(
      'The result was not posted: more than 5 % of the runs of the agent failed. Run the same command again to repeat them.',
    )
  if (isSpoilt)
    throw new Error(
      `The result was not posted: more than 5 % of the runs could not be judged. Fix the cause that the report states, delete ${report.folder}, and run the command again.`,
    )
  const { digest } = skill
  const result: EvaluationResult = {
    runner,
    model: model!,
    ranAt,
    cases: cases.filter(isCompared).length,
    withSkill: toCounts(withSkill),
    withoutSkill: toCounts(withoutSkill),
    transcripts: list,
  }
  try {
    if (key !== undefined && signed) {
      const { resultNamespace: namespace, toSignedResult } = await import('@skillstead/core/internal')
      const text = toSignedResult({ ...signed, version, digest }, result)
      result.signature = signText(given, key, { text, namespace })
    }
    await withApi(given, (api) => api.createEvaluation({ name, version, digest, ...result }), {
      ci: toNamedOwner(name),
    })
  } catch (error) {
    const reason = toOneLine(toErrorText(error))
    throw new Error(`The result was not posted, but is in ${report.folder}: ${reason}`, { cause: error })
  }
}

function toCounts({ runs, passed, tokens, seconds }: ArmTotals) {
  return { runs, passed, ...(tokens !== undefined && { tokens }), seconds }
}
