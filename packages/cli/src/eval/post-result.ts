import { RegistryError, toOneLine } from '@skillstead/protocol'
import { UsageError, textOption, type Arguments } from '../command/command.ts'
import { parseSkillWord } from '../command/values.ts'
import { findNode, withApi } from '../registry/place.ts'
import { requestJson } from '../registry/request-json.ts'
import type { EvalReport } from './eval-reports.ts'
import type { ArmTotals } from './summary.ts'

/** Digests in a result. Of more transcripts, the digest of the list of their digests is posted. */
const transcriptsMax = 500

/** As nodes check it, but before the agents run. */
const modelPattern = /^(?!.{81})[A-Za-z0-9][\w.:@/+()-]*(?: [\w.:@/+()-]+)*$/

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
  if (!modelPattern.test(model))
    throw new UsageError(
      `'${toOneLine(model)}' is not a name of a model for a result. Use up to 80 letters, digits, spaces and . _ : @ / + ( ) -.`,
    )
  if (findNode(given)?.apiKey === undefined)
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

/** Posts the counted runs. Of transcripts only digests are sent. Throws if no run of a side is meaningful. */
export async function postResult(
  given: Arguments,
  { name, version }: PostedVersion,
  report: EvalReport,
  list: string,
): Promise<void> {
  const { withSkill, withoutSkill, runs, cases, skill, runner, model, ranAt } = report
  for (const arm of [withSkill, withoutSkill]) {
    if (arm.runs === 0 || arm.broken === arm.runs)
      throw new Error('The result was not posted: on one side, no run of the agent ended by itself with exit code 0.')
  }
  const { baseUrl, apiKey } = findNode(given)!
  const path = `/api/v1/skills/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}/evaluations`
  const all = runs.map(({ transcript }) => transcript)
  const { status, body } = await requestJson(new URL(baseUrl.replace(/\/+$/, '') + path), {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      digest: skill.digest,
      runner,
      model,
      ranAt,
      cases: cases.length,
      withSkill: toCounts(withSkill),
      withoutSkill: toCounts(withoutSkill),
      transcripts: all.length > transcriptsMax ? [list] : all,
    }),
  })
  if (status === 200 || status === 201) return
  const reason = toOneLine(String(body['detail'] ?? `status ${status}`)).slice(0, 500)
  throw new RegistryError('upstream_failed', `The result is in ${report.folder}, but the node refused it: ${reason}`)
}

function toCounts({ runs, passed, tokens, seconds }: ArmTotals) {
  return { runs, passed, ...(tokens !== undefined && { tokens }), seconds }
}
