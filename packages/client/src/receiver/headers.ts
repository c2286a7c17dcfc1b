import { WebhookError } from './webhook-error.ts'

/** The headers of a request: those of fetch, or a record such as Node's, its names in any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** A header by its name in lower case; undefined where it is not there or empty. */
export function findHeader(headers: WebhookHeaders, name: string): string | undefined {
  const value = isFetchHeaders(headers) ? headers.get(name) : joinValues(headers, name)
  return value?.trim() || undefined
}

/** Throws `missing_header` where it is not there. */
export function getHeader(headers: WebhookHeaders, name: string): string {
  const value = findHeader(headers, name)
  if (value === undefined) throw new WebhookError('missing_header', `The header ${name} is missing.`)
  return value
}

/** By what it can do: frameworks bring Headers of their own. */
function isFetchHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === 'function'
}

/** One that is there several times comes out as one that is no valid value, or as a longer list of signatures. */
function joinValues(headers: Exclude<WebhookHeaders, Headers>, name: string): string {
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === name)
  return found.flatMap(([, value]) => value ?? []).join(' ')
}
