import { posix } from 'node:path'
import * as v from 'valibot'
import { caseLimits, type CaseFile, type EvalCheck } from './eval-case.ts'
import {
  env,
  prompt,
  regexFields,
  relativePath,
  requirePattern,
  target,
  text,
  timeoutSeconds,
  toTarget,
  traceReason,
} from './case-fields.ts'
import type { ReadCase } from './evals-json.ts'
import {
  CaseError,
  readCaseText,
  readMarkdown,
  readYamlDocument,
  validate,
  type LocatedDocument,
} from './located-document.ts'

const { checksMax, promptCharactersMax } = caseLimits

/** The fields of `execution` that are read; its other fields are settings of Claude Code. */
const execution = { timeout_seconds: timeoutSeconds, env }
const Settings = v.object({ name: v.optional(text(200)), ...execution }, 'must have `key: value` lines.')

const CaseYaml = v.object(
  {
    name: v.optional(text(200)),
    context: v.optional(v.object({ scaffold_script: v.optional(relativePath) }, 'must be an object.'), {}),
    execution: v.optional(v.object({ prompt: v.optional(prompt), ...execution }, 'must be an object.'), { env: {} }),
    graders: v.optional(
      v.pipe(v.array(v.unknown(), 'must be a list.'), v.maxLength(checksMax, `has more than ${checksMax} graders.`)),
      [],
    ),
  },
  'must be an object.',
)

const common = {
  name: v.optional(text(200)),
  weight: v.optional(v.number('must be a number.')),
  arm: v.optional(v.picklist(['with-only', 'both'])),
}
const call = v.union(
  [text(200), v.object({ tool: text(200), input_match: v.optional(text()) })],
  'must be the name of a tool, or { tool, input_match }.',
)
const match = v.pipe(
  v.string('must be text.'),
  v.regex(/^(?:contains|not_contains|count:\d{1,6})$/, 'must be contains, not_contains or count:N.'),
)

const Grader = v.variant(
  'type',
  [
    v.object({ type: v.literal('regex'), ...common, ...regexFields, match: v.optional(match, 'contains'), target }),
    v.object({
      type: v.literal('file_exists'),
      ...common,
      path: relativePath,
      exists: v.optional(v.boolean('must be true or false.'), true),
    }),
    v.object({ type: v.literal('llm'), ...common, criteria: v.optional(text()), focus: target }),
    v.object({ type: v.literal('tool_used'), ...common, tool: text(200) }),
    v.object({ type: v.literal('tool_order'), ...common, before: call, after: call }),
    v.object({ type: v.literal('baseline'), ...common, baseline_file: relativePath }),
  ],
  'must be one of regex, file_exists, llm, tool_used, tool_order, baseline.',
)

/** Reasons why graders cannot be decided from what a run leaves. */
const unseen = {
  trace: traceReason,
  baseline: 'It needs the trace of the agent, and a judge that compares it with another.',
  arm: 'It counts only with the skill, which would bias the comparison.',
} as const

/** The files of a case folder: `prompt.md` or `case.yaml` or both, and `graders/*.md`. */
export interface CaseFolder {
  readonly folder: string
  readonly promptMd?: CaseFile
  readonly caseYaml?: CaseFile
  readonly graders: readonly CaseFile[]
}

/** The folders with a case of `claude plugin eval`, at any depth below `evals`. */
export function listCaseFolders(files: readonly CaseFile[]): CaseFolder[] {
  // Results of `claude plugin eval` may have copies of cases.
  const all = files.filter(({ path }) => path.startsWith('evals/') && !path.startsWith('evals/results/'))
  return [...Map.groupBy(all, ({ path }) => toFolder(path))].flatMap(([folder, own]) => {
    if (folder === 'evals') return []
    const find = (name: string) => own.find(({ path }) => path === `${folder}/${name}`)
    const [promptMd, caseYaml] = [find('prompt.md'), find('case.yaml')]
    if (!promptMd && !caseYaml) return []
    const graders = own.filter(({ path }) => path.startsWith(`${folder}/graders/`))
    return [{ folder, graders, ...(promptMd && { promptMd }), ...(caseYaml && { caseYaml }) }]
  })
}

/** The folder of the case that a file is part of, if there is one. */
function toFolder(path: string): string {
  const parent = posix.dirname(path)
  return posix.basename(parent) === 'graders' && path.endsWith('.md') ? posix.dirname(parent) : parent
}

/** Reads a case folder. `within` runs the reading of a file, and adds its path to the errors. */
export function readCaseFolder(
  { folder, promptMd, caseYaml, graders }: CaseFolder,
  within: <T>(path: string, read: () => T) => T,
): ReadCase {
  const main = (caseYaml ?? promptMd)!.path
  const yaml = caseYaml && within(caseYaml.path, () => readCaseYaml(caseYaml))
  const written = promptMd && within(promptMd.path, () => readPrompt(promptMd))
  const separate = graders.map((file) => within(file.path, () => readGraderFile(file)))
  const checks = [...(yaml?.checks ?? []), ...separate]
  const asked = written?.prompt ?? yaml?.prompt
  if (asked === undefined)
    within(main, () => refuseCase('The case has no prompt. Write it into prompt.md or execution.prompt.'))
  if (checks.length === 0)
    within(main, () => refuseCase('The case has no grader. Add graders/NAME.md or a list `graders`.'))
  const timeout = written?.timeoutSeconds ?? yaml?.timeoutSeconds
  return {
    id: folder.slice('evals/'.length),
    prompt: asked!,
    files: [],
    env: { ...yaml?.env, ...written?.env },
    ...(yaml?.scaffold !== undefined && { scaffold: `${folder}/${yaml.scaffold}` }),
    ...(timeout !== undefined && { timeoutSeconds: timeout }),
    checks,
  }
}

function refuseCase(message: string): never {
  throw new CaseError(message, 1)
}

function readPrompt(file: CaseFile) {
  const { document, body } = readMarkdown(readCaseText(file))
  const { timeout_seconds: seconds, env: variables } = validate(Settings, document)
  if (body.length > promptCharactersMax) refuseCase(`The prompt is longer than ${promptCharactersMax} characters.`)
  return { prompt: body === '' ? undefined : body, timeoutSeconds: seconds, env: variables }
}

function readCaseYaml(file: CaseFile) {
  const document = readYamlDocument(readCaseText(file))
  const { execution: run, context, graders } = validate(CaseYaml, document)
  const { scaffold_script: scaffold } = context
  return {
    prompt: run.prompt,
    timeoutSeconds: run.timeout_seconds,
    env: run.env,
    scaffold: scaffold === undefined ? undefined : posix.normalize(scaffold),
    checks: graders.map((_, index) =>
      readGrader(document, ['graders', index], { name: `grader ${index + 1}`, body: '' }),
    ),
  }
}

function readGraderFile(file: CaseFile): EvalCheck {
  const { document, body } = readMarkdown(readCaseText(file))
  return readGrader(document, [], { name: posix.basename(file.path, '.md'), body })
}

function readGrader(
  document: LocatedDocument,
  at: readonly (string | number)[],
  given: { readonly name: string; readonly body: string },
): EvalCheck {
  const grader = validate(Grader, document, at)
  const name = grader.name ?? given.name
  const leave = (reason: string): EvalCheck => ({ name, kind: 'unseen', reason })
  if (grader.type === 'baseline') return leave(unseen.baseline)
  if (grader.type === 'tool_used' || grader.type === 'tool_order') return leave(unseen.trace)
  if (grader.arm === 'with-only') return leave(unseen.arm)
  if (grader.type === 'file_exists') return { name, kind: 'file_exists', pattern: grader.path, exists: grader.exists }
  const place = toTarget(grader.type === 'llm' ? grader.focus : grader.target)
  if (place === undefined) return leave(unseen.trace)
  if (grader.type === 'llm') {
    const rubric = grader.criteria ?? given.body.slice(0, caseLimits.textCharactersMax)
    if (rubric === '')
      throw new CaseError(
        'The grader has no rubric. Describe in its text or in `criteria` what passes and what fails.',
        document.lineOf(at),
      )
    return { name, kind: 'text', text: rubric, target: place }
  }
  requirePattern(grader.pattern, grader.flags, document.lineOf([...at, 'pattern']))
  const count = grader.match === 'not_contains' ? 0 : Number(grader.match.split(':')[1] ?? Number.NaN)
  const counted = Number.isNaN(count) ? {} : { count }
  return { name, kind: 'regex', pattern: grader.pattern, flags: grader.flags, ...counted, target: place }
}
