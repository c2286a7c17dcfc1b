import { posix } from 'node:path'
import * as v from 'valibot'
import { caseLimits, type EvalCase, type EvalCheck } from './eval-case.ts'
import {
  prompt,
  regexFields,
  relativePath,
  requirePattern,
  target,
  text,
  timeoutSeconds,
  toRunFile,
  toTarget,
  traceReason,
} from './case-fields.ts'
import { CaseError, validate, type LocatedDocument } from './located-document.ts'

/** The file of cases of the agentskills evaluation guide. */
export const evalsJson = 'evals/evals.json'

const { casesMax, checksMax, filesMax } = caseLimits

const Document = v.object(
  {
    skill_name: v.optional(v.string('must be text.')),
    evals: v.pipe(v.array(v.unknown(), 'must be a list.'), v.maxLength(casesMax, `has more than ${casesMax} cases.`)),
  },
  'must be an object with a list `evals`.',
)

const name = v.optional(text(200))
const [value, path] = [text(), v.optional(target)]
const kinds = ['contains', 'not_contains', 'exact', 'regex', 'json_schema', 'script', 'file_exists'] as const

const Typed = v.variant(
  'type',
  [
    v.object({ type: v.picklist(['contains', 'not_contains', 'exact']), name, value, target: path }),
    v.object({ type: v.literal('regex'), name, value: regexFields.pattern, flags: regexFields.flags, target: path }),
    v.object({
      type: v.literal('json_schema'),
      name,
      value: v.union([v.boolean(), v.record(v.string(), v.unknown())], 'must be a JSON schema.'),
      target: path,
    }),
    v.object({ type: v.literal('script'), name, value: relativePath }),
    v.object({ type: v.literal('file_exists'), name, value: relativePath }),
  ],
  `must be one of ${kinds.join(', ')}.`,
)

const Assertion = v.union(
  [text(), v.object({ text: text() }), v.looseObject({ type: v.string() })],
  'must be text, or an object with a `type`.',
)
const assertions = v.optional(
  v.pipe(v.array(Assertion, 'must be a list.'), v.maxLength(checksMax, `has more than ${checksMax} entries.`)),
  [],
)

const Case = v.object(
  {
    id: v.optional(v.union([v.pipe(v.number(), v.safeInteger()), text(100)], 'must be a number or a text.')),
    prompt,
    expected_output: v.optional(v.string('must be text.')),
    files: v.optional(
      v.pipe(
        v.array(relativePath, 'must be a list of paths.'),
        v.maxLength(filesMax, `has more than ${filesMax} files.`),
      ),
      [],
    ),
    timeout_seconds: timeoutSeconds,
    expectations: assertions,
    assertions,
  },
  'must be an object.',
)

/** A case that knows the line of its document at which it begins. */
export type ReadCase = EvalCase & { lineOf?(): number | undefined }

/**
 * Reads the cases of `evals/evals.json`. A faulty case does not affect the others: `refuse` receives its error.
 *
 * @throws {CaseError} if the document has no list of cases.
 */
export function readEvalsJson(document: LocatedDocument, refuse: (error: CaseError) => void): ReadCase[] {
  const { evals } = validate(Document, document)
  return evals.flatMap((_, index) => {
    try {
      return [readCase(document, index)]
    } catch (error) {
      if (!(error instanceof CaseError)) throw error
      refuse(error)
      return []
    }
  })
}

function readCase(document: LocatedDocument, index: number): ReadCase {
  const at = ['evals', index]
  const one = validate(Case, document, at)
  const lists = [
    ...one.expectations.keys().map((i) => ['expectations', i]),
    ...one.assertions.keys().map((i) => ['assertions', i]),
  ]
  const checks = lists.map((place) => readAssertion(document, [...at, ...place]))
  const expected = one.expected_output?.trim() ?? ''
  if (checks.length === 0 && expected !== '')
    checks.push({
      name: 'expected_output',
      kind: 'text',
      text: `The result is as described: ${expected}`,
      target: 'last_message',
    })
  return {
    id: String(one.id ?? index + 1),
    prompt: one.prompt,
    files: one.files.map(toRunFile),
    env: {},
    timeoutSeconds: one.timeout_seconds,
    checks,
    lineOf: () => document.lineOf(at),
  }
}

function readAssertion(document: LocatedDocument, at: readonly (string | number)[]): EvalCheck {
  const assertion = validate(Assertion, document, at)
  const words = typeof assertion === 'string' ? assertion : 'type' in assertion ? undefined : assertion.text
  if (words !== undefined) return { name: words, kind: 'text', text: words, target: 'last_message' }
  const typed = validate(Typed, document, at)
  const title = typed.name ?? `${typed.type} ${typeof typed.value === 'string' ? typed.value : ''}`.trim()
  if (typed.type === 'script') return { name: title, kind: 'script', path: posix.normalize(typed.value) }
  if (typed.type === 'file_exists') return { name: title, kind: 'file_exists', pattern: typed.value, exists: true }
  const place = toTarget(typed.target ?? 'last_message')
  if (place === undefined) return { name: title, kind: 'unseen', reason: traceReason }
  if (typed.type === 'json_schema') return { name: title, kind: 'json_schema', schema: typed.value, target: place }
  if (typed.type !== 'regex') return { name: title, kind: typed.type, text: typed.value, target: place }
  requirePattern(typed.value, typed.flags, document.lineOf([...at, 'value']))
  return { name: title, kind: 'regex', pattern: typed.value, flags: typed.flags, target: place }
}
