import * as v from 'valibot'
import { ProgramName, toOneLine } from '@skillstead/protocol'
import { UsageError, textOption, type Arguments } from '../command/command.ts'
import { parseSkillWord } from '../command/values.ts'
import { isCiJob } from '../registry/ci-key.ts'
import { findNode, withApi } from '../registry/place.ts'
import type { EvalReport } from './eval-reports.ts'
import type { ArmTotals } from './summary.ts'

/** A version that a result is posted for. */
export interface PostedVersion {
  readonly name: string
  readonly version: string
}

/** The version of `--post`. Throws {@link UsageError} without one, a node or a model, which every result names. */
export function findPostedVersion(given: Arguments): PostedVersion | undefined {
  const word = textOption(given, 'post')
  if (word === undefined) return undefined
  const { name, version } = parseSkillWord(word)
  if (version === undefined || version === '')
    throw new UsageError(`'${toOneLine(word)}' names no version. Use the form NAME@VERSION.`)
  const model = textOption(given, 'model')
  if (model === undefined) throw new UsageError('A posted result names its model. Pass --model NAME.')
  // As nodes check it, but before the agents run.
  if (!v.is(ProgramName, model))
    throw new UsageError(
      `'${toOneLine(model)}' is not a name of a model for a result. Use up to 80 letters, digits, spaces and . _ : @ / + ( ) -.`,
    )
  if (findNode(given)?.apiKey === undefined && !isCiJob(given.io.env))
    throw new UsageError('--post needs a node and a key. Log in, or pass --url URL and --key KEY.')
  return { name, version }
}

/** Throws if the folder is not the version, before agents spend anything. */
export async function requireSameDigest(
  given: Arguments,
  { name, version }: PostedVersion,
  digest: string,
): Promise<void> {
  const published = await withApi(given, (api) => api.getVersion({ name, version }))
  if (published.digest === digest) return
  throw new Error(
    `The folder is not ${name}@${version}: its digest is ${digest}, and that of the version ${toOneLine(published.digest)}. Publish it first, or evaluate the files of that version.`,
  )
}

/** Posts the counted runs, and of the transcripts the digest of their list. Throws if no run of a side is meaningful. */
export async function postResult(
  given: Arguments,
  { name, version }: PostedVersion,
  report: EvalReport,
  list: string,
): Promise<void> {
  const { withSkill, withoutSkill, cases, skill, runner, model, ranAt } = report
  for (const arm of [withSkill, withoutSkill]) {
    if (arm.runs === 0 || arm.broken === arm.runs)
      throw new Error('The result was not posted: on one side, no run of the agent ended by itself with exit code 0.')
  }
  const counted = cases.filter((one) => one.with.runs > 0 && one.without.runs > 0)
  if (counted.length === 0)
    throw new Error('The result was not posted: no case has a counted run both with and without the skill.')
  const result = {
    digest: skill.digest,
    runner,
    model: model!,
    ranAt,
    cases: counted.length,
    withSkill: toCounts(withSkill),
    withoutSkill: toCounts(withoutSkill),
    transcripts: list,
  }
  const [owner] = name.includes('/') ? name.split('/') : []
  try {
    await withApi(given, (api) => api.createEvaluation({ name, version, ...result }), { ci: owner ?? null })
  } catch (error) {
    const reason = toOneLine(error instanceof Error ? error.message : String(error))
    throw new Error(`The result was not posted, but is in ${report.folder}: ${reason}`, { cause: error })
  }
}

function toCounts({ runs, passed, tokens, seconds }: ArmTotals) {
  return { runs, passed, ...(tokens !== undefined && { tokens }), seconds }
}
