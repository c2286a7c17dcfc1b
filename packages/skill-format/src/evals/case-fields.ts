import { posix } from 'node:path'
import { toErrorText } from '@skillstead/protocol'
import * as v from 'valibot'
import { checkPaths, toFoldedPath } from '../archives/file-paths.ts'
import { isEscape } from '../archives/select-files.ts'
import { caseLimits, type CheckTarget, type EvalCase } from './eval-case.ts'
import { CaseError } from './located-document.ts'

const { textCharactersMax, patternCharactersMax, promptCharactersMax, timeoutSecondsMax } = caseLimits

/** A text of at most `max` characters that is not only white space. */
export function text(max: number = textCharactersMax) {
  return v.pipe(
    v.string('must be text.'),
    v.maxLength(max, `is longer than ${max} characters.`),
    v.check((value) => value.trim() !== '', 'is empty.'),
  )
}

export const prompt = text(promptCharactersMax)

/** A path relative to a folder, with `/` between names, which cannot lead out of the folder. */
export const relativePath = v.pipe(
  text(512),
  v.check(
    (path) => !isEscape(path) && !/[\0:]/.test(path),
    'leads out of its folder. Write a path below it, without `..`.',
  ),
)

const flags = v.pipe(v.string('must be text.'), v.regex(/^[dgimsuvy]*$/, 'must be letters of d, g, i, m, s, u, v, y.'))

/** A pattern that compiles with its flags. Programs that match it must limit the time of a match. */
export const regexFields = { pattern: text(patternCharactersMax), flags: v.optional(flags, '') }

export const timeoutSeconds = v.optional(
  v.pipe(
    v.number('must be a number.'),
    v.minValue(1, 'must be 1 or more.'),
    v.maxValue(timeoutSecondsMax, `must be ${timeoutSecondsMax} or less.`),
  ),
)

/** Variables of a run: only names with the prefix `EVAL_`, because other variables can change what programs load. */
export const env = v.optional(
  v.pipe(
    v.record(
      v.pipe(
        v.string(),
        v.regex(/^EVAL_[A-Za-z0-9_]{1,100}$/, 'is not a variable of a case. Begin its name with EVAL_.'),
      ),
      v.pipe(
        v.union([v.string(), v.number(), v.boolean()], 'must be text.'),
        v.transform(String),
        v.check((value) => !value.includes('\0') && value.length <= textCharactersMax, 'is too long, or has a NUL.'),
      ),
      'must be an object of variables.',
    ),
    v.maxEntries(50, 'has more than 50 variables.'),
  ),
  {},
)

/** `last_message`, `trace`, `files`, `mock_calls`, or a file of the run's folder. */
export const target = v.optional(
  v.union(
    [
      v.picklist(['last_message', 'trace', 'files', 'mock_calls']),
      v.object({ source: v.literal('file'), path: relativePath }),
    ],
    'must be last_message, trace, files, or { source: file, path: PATH } with a path below the folder of the run.',
  ),
  'last_message',
)

/** Why checks of an agent's trace are not decided. */
export const traceReason = 'It needs the trace of the agent.'

/** The target of a check; undefined for `trace` and `mock_calls`, which a run does not leave. */
export function toTarget(written: v.InferOutput<typeof target>): CheckTarget | undefined {
  if (typeof written === 'object') return { file: written.path }
  return written === 'last_message' || written === 'files' ? written : undefined
}

/** Throws {@link CaseError} with the reason if a pattern does not compile. */
export function requirePattern(pattern: string, written: string, line: number | undefined): void {
  try {
    void RegExp(pattern, written)
  } catch (error) {
    throw new CaseError(`${toErrorText(error).slice(0, 300)}.`, line)
  }
}

/** Where a file of a skill is in the run's folder: at its path without `evals/` or `evals/files/`. */
export function toRunFile(path: string): EvalCase['files'][number] {
  const clean = posix.normalize(path)
  return { path: clean, to: clean.replace(/^evals\/(?:files\/)?/, '') }
}

/** The folders of a run that contain the skill itself. */
const skillFolders = /^\.(?:agents|claude)(?:\/|$)/

/**
 * What is wrong with the places of a case's files in the run's folder, as a sentence: a path that some system cannot
 * store, two files in one place or within each other, or a place of the skill itself.
 */
export function findPlaceFault(files: EvalCase['files']): string | undefined {
  const places = [...new Map(files.map(({ path, to }) => [path, to])).values()]
  const taken = places.find((to) => skillFolders.test(toFoldedPath(to)))
  if (taken !== undefined) return `${taken}: Runs have the skill there. Rename the folder.`
  const [problem] = checkPaths(places.map((path) => ({ path })))
  return problem && `${problem.path}: ${problem.message}`
}
