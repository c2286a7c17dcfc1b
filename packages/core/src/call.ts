import {
  RegistryError,
  endpoints,
  includesPlan,
  type Content,
  type Endpoint,
  type EndpointName,
  type Reply,
  type SuccessStatus,
} from '@skillstead/protocol'
import * as v from 'valibot'
import { requireScope, requireUser, type Caller } from './kernel/caller.ts'
import type { CallOptions } from './kernel/call-options.ts'
import type { OperatorContext } from './operator/operator-context.ts'
import type { EncodedJson } from './kernel/encoded-json.ts'
import { toFieldErrors } from './kernel/field-errors.ts'
import { readThrough } from './catalogue/read-through.ts'
import { operations } from './operations.ts'
import { withShare } from './catalogue/share-links.ts'
import { toRegistryError } from './storage/storage-error.ts'

/** What an operation answered, whatever its endpoint: a JSON value or its bytes, or content of another type. */
export type AnyReply = Reply<unknown | EncodedJson | Content>

type AnyOperation = (context: OperatorContext, input: unknown, caller: Caller, options?: CallOptions) => unknown

/**
 * Calls an operation by its name: who may call, what is sent, then the operation. The one way in for both transports.
 * `input` is one flat object of path parameters, query parameters and body fields. Throws RegistryError.
 */
export async function localCall(
  context: OperatorContext,
  name: EndpointName,
  input: unknown,
  caller: Caller,
  options?: CallOptions,
): Promise<AnyReply> {
  context.traffic.calls += 1
  const endpoint: Endpoint = endpoints[name]
  authorize(endpoint, caller)
  const parsed = v.safeParse(endpoint.input, input)
  if (!parsed.success) throw toInvalidRequest(parsed.issues)
  try {
    const seeing = await withLink(context, endpoint, caller, options?.shareToken)
    const operation = operations[name] as AnyOperation
    const { port } = context.upstreams
    const result =
      port === undefined
        ? await operation(context, parsed.output, seeing, options)
        : await readThrough(port, { name, input: parsed.output }, () =>
            operation(context, parsed.output, seeing, options),
          )
    if (Array.isArray(endpoint.status)) return result as AnyReply
    return { status: (endpoint.status as SuccessStatus | undefined) ?? 200, body: result }
  } catch (error) {
    throw toRegistryError(error)
  }
}

/**
 * Who may call, by the endpoint's row alone: a transport asks before it reads what is sent.
 * Throws `unauthorized`, `forbidden` and `plan_required`.
 */
export function authorize(endpoint: Endpoint, caller: Caller): void {
  // What guests may do, a key does in the name of its user, as far as it may.
  if (endpoint.auth === 'none' && (caller.kind === 'guest' || endpoint.scope === undefined)) return
  const user = requireUser(caller)
  // What is no row of the table's, as that an owner needs another scope than an administrator, its operation asks for.
  if (endpoint.scope !== 'any') requireScope(user, endpoint.scope ?? 'read')
  if (endpoint.auth === 'admin' && user.role !== 'admin') {
    throw new RegistryError('forbidden', 'Only administrators may do this.')
  }
  if (endpoint.plan && !includesPlan(user.plan, endpoint.plan)) {
    throw new RegistryError(
      'plan_required',
      `Your plan (${user.plan}) does not include ${endpoint.tag.toLowerCase()}; an administrator can change it.`,
    )
  }
}

function toInvalidRequest(issues: readonly v.BaseIssue<unknown>[]): RegistryError {
  const errors = toFieldErrors(issues)
  const detail = errors
    .map(({ path, message }) => (path === '' ? `The body ${message}.` : `${path} ${message}.`))
    .join(' ')
  return new RegistryError('invalid_request', detail, { errors })
}

/** The caller with the link that came along. Throws `forbidden` where it comes with a request to change something. */
async function withLink(context: OperatorContext, { method }: Endpoint, caller: Caller, token: string | undefined) {
  if (token === undefined) return caller
  if (method !== 'GET')
    throw new RegistryError('forbidden', 'A share link allows reading only. Send this request without it.')
  return withShare(context, caller, token)
}
