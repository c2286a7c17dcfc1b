import { RegistryError, type FieldError } from '@skillstead/protocol'
import * as v from 'valibot'

/** Limit on the reported errors: a hostile body must not cause a large response. */
const errorsMax = 50

/** The problem with each field. Messages do not repeat the submitted values. */
export function toFieldErrors(issues: readonly v.BaseIssue<unknown>[]): FieldError[] {
  return issues
    .slice(0, errorsMax)
    .map((issue) => ({ path: (v.getDotPath(issue) ?? '').slice(0, 200), message: toFieldMessage(issue) }))
}

function toFieldMessage(issue: v.BaseIssue<unknown>): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message
  if (issue.type === 'strict_object' && issue.expected === 'never') return 'is not a field of this request'
  if (issue.received === 'undefined') return 'is required'
  return fieldMessages[issue.type]?.(issue) ?? `must be ${issue.expected ?? 'valid'}`
}

const fieldMessages: Record<string, (issue: v.BaseIssue<unknown>) => string> = {
  string: () => 'must be a string',
  number: () => 'must be a number',
  boolean: () => 'must be true or false',
  array: () => 'must be a list',
  strict_object: () => 'must be an object',
  object: () => 'must be an object',
  picklist: ({ expected }) => `must be one of ${expected?.replace(/[()]/g, '').replaceAll(' | ', ', ')}`,
  literal: ({ expected }) => `must be ${expected}`,
  union: () => 'has the wrong type',
  max_length: (issue) => `must have at most ${toLengthLimit(issue)}`,
  min_length: (issue) => `must have at least ${toLengthLimit(issue)}`,
  max_value: ({ requirement }) => `must be at most ${String(requirement)}`,
  min_value: ({ requirement }) => `must be at least ${String(requirement)}`,
  integer: () => 'must be a whole number',
  multiple_of: ({ requirement }) => `must be a multiple of ${String(requirement)}`,
  regex: () => 'has an invalid format',
  url: () => 'must be a URL',
  email: () => 'must be an e-mail address',
  uuid: () => 'must be an id',
  base64: () => 'must be base64',
  starts_with: ({ requirement }) => `must begin with ${String(requirement)}`,
}

function toLengthLimit({ requirement, input }: v.BaseIssue<unknown>): string {
  const what = Array.isArray(input) ? 'item' : 'character'
  return `${String(requirement)} ${what}${requirement === 1 ? '' : 's'}`
}

/** The error for one invalid field. The field's path and `message` together form a sentence. */
export function invalidField(path: string, message: string): RegistryError {
  const end = message.endsWith('.') ? '' : '.'
  return new RegistryError('invalid_request', `${path} ${message}${end}`, { errors: [{ path, message }] })
}

/**
 * The error for several fields. Each path and its message together form a sentence, which ends with a period; a message
 * that begins with a capital letter is a sentence itself.
 */
export function invalidFields(code: 'invalid_request' | 'invalid_skill', errors: readonly FieldError[]): RegistryError {
  return new RegistryError(
    code,
    errors.map(({ path, message }) => `${path}${/^[A-Z]/.test(message) ? ':' : ''} ${message}`).join(' '),
    { errors },
  )
}
