import { WebhookError } from './webhook-error.ts'

/** The headers of a request: those of fetch, or a record such as Node's with names in any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** A header by its lower-case name; undefined if it is missing or empty. */
export function findHeader(headers: WebhookHeaders, name: string): string | undefined {
  const value = isFetchHeaders(headers) ? headers.get(name) : joinValues(headers, name)
  return value?.trim() || undefined
}

/** Throws `missing_header` if it is missing. */
export function getHeader(headers: WebhookHeaders, name: string): string {
  const value = findHeader(headers, name)
  if (value === undefined) throw new WebhookError('missing_header', `The header ${name} is missing.`)
  return value
}

/** Duck typing: frameworks have Headers classes of their own. */
function isFetchHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === 'function'
}

/** A repeated header becomes an invalid value, or a longer list of signatures. */
function joinValues(headers: Exclude<WebhookHeaders, Headers>, name: string): string {
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === name)
  return found.flatMap(([, value]) => value ?? []).join(' ')
}
