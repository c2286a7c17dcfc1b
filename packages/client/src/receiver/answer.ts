import { WebhookError, webhookErrorStatuses, type WebhookErrorCode } from './webhook-error.ts'

/** The response to a refused delivery. */
export function refuse({ code, message }: WebhookError): Response {
  return toProblem(code, webhookErrorStatuses[code], message)
}

/** The response after a handler failed, without the reason. The registry sends the delivery again. */
export function fail(): Response {
  return toProblem('failed', 500, 'The event was not handled.')
}

/** The response to a request that is not a delivery. */
export function refuseMethod(): Response {
  return toProblem('method_not_allowed', 405, 'Deliveries are sent with POST.', { allow: 'POST' })
}

function toProblem(
  code: WebhookErrorCode | 'failed' | 'method_not_allowed',
  status: number,
  detail: string,
  headers: Record<string, string> = {},
): Response {
  const problem = { type: 'about:blank', status, detail, code }
  const contentType = { 'content-type': 'application/problem+json' }
  return new Response(JSON.stringify(problem), { status, headers: { ...headers, ...contentType } })
}
