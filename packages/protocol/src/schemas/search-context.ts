import * as v from 'valibot'
import { limits } from '../limits.ts'
import { toVisibleText } from '../visible-text.ts'
import { boundedArray, SkillRef, boundedText } from './fields.ts'

/** Matches absolute paths. They are rejected: they name the user and the machine, which no registry needs to know. */
const absolutePattern = /^[\\/~]|^[A-Za-z]:/

const File = v.pipe(
  boundedText(limits.contextPathCharactersMax),
  v.check(isVisible, 'must not contain invisible characters'),
  v.check((path) => !absolutePattern.test(path), 'must be a path within the project, not an absolute path'),
)

const Language = v.pipe(
  boundedText(limits.contextLanguageCharactersMax),
  v.check(isVisible, 'must not contain invisible characters'),
)

const Fields = v.strictObject({
  files: v.optional(boundedArray(File, limits.contextFilesMax)),
  languages: v.optional(boundedArray(Language, limits.contextLanguagesMax)),
  installed: v.optional(boundedArray(SkillRef, limits.contextInstalledMax)),
})

const runFields = Fields['~run'].bind(Fields)
/** Rejects a list as it rejects null: Valibot accepts lists as objects, so `[]` would be a context without fields. */
const runObject: typeof runFields = (dataset, config) =>
  runFields(Array.isArray(dataset.value) ? { value: null } : dataset, config)

/** The context of a search, which decides the order of almost equal matches. The context is not stored. */
export const SearchContext = Object.assign(Fields, { '~run': runObject })

function isVisible(value: string): boolean {
  return toVisibleText(value) === value
}
