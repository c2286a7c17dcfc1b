import {
  RegistryError,
  endpoints,
  includesPlan,
  type ApiOptions,
  type Content,
  type Endpoint,
  type EndpointName,
  type RegistryApi,
  type Reply,
  withoutUndefined,
  isRecord,
  keysOf,
} from '@skillstead/protocol'
import * as v from 'valibot'
import type { StorageContext } from './storage/storage-context.ts'
import { guest, requireScope, requireUser, type Caller } from './kernel/caller.ts'
import type { CallOptions } from './kernel/call-options.ts'
import type { OperatorContext } from './operator/operator-context.ts'
import { EncodedJson } from './kernel/encoded-json.ts'
import { SkillMoved } from './catalogue/skills/find-skill.ts'
import { toFieldErrors } from './kernel/field-errors.ts'
import { readThrough } from './catalogue/context/upstream-port.ts'
import { operations } from './operations.ts'
import { partsOf, type Registry, requireOpen } from './registry.ts'
import { untilAborted } from './storage/until-aborted.ts'
import { withShare } from './catalogue/sharing/share-links.ts'
import { toRegistryError } from './storage/storage-error.ts'
import { toReadOnlyError } from './storage/writer.ts'

/**
 * The registry as functions that run in this process, with the same signatures as the HTTP client. All calls are made
 * as `caller`. `options` apply to every call, for example an agent's token. Each function also takes a `signal` for one
 * call: an aborted call rejects with the reason of its signal. A write of an aborted call is dropped if it is still in
 * the queue; a write that was handed to the database may still be committed.
 *
 * @example
 * const api = localApi(registry, await registry.getCaller('alice'))
 * await api.publishSkill({ skillMd }, { signal: AbortSignal.timeout(5000) })
 */
export function localApi(registry: Registry, caller: Caller = guest, options: CallOptions = {}): RegistryApi {
  const functions = keysOf(endpoints).map((name) => [
    name,
    (input: Record<string, unknown> = {}, { signal }: ApiOptions = {}) =>
      callFollowing(registry, name, input, caller, { ...options, signal: joinSignals(options.signal, signal) }),
  ])
  return Object.fromEntries(functions)
}

/** Calls an operation, and follows the redirect of a renamed skill as HTTP clients do. */
async function callFollowing(
  registry: Registry,
  name: EndpointName,
  input: Record<string, unknown>,
  caller: Caller,
  options: CallOptions,
): Promise<unknown> {
  try {
    const { body } = await localCall(registry, name, withoutUndefined(input), caller, options)
    return body instanceof EncodedJson ? JSON.parse(body.json) : body
  } catch (error) {
    if (error instanceof SkillMoved)
      return callFollowing(registry, name, { ...input, name: error.fullName }, caller, options)
    throw error
  }
}

function joinSignals(first: AbortSignal | undefined, second: AbortSignal | undefined): AbortSignal | undefined {
  return first && second ? AbortSignal.any([first, second]) : (first ?? second)
}

/** The result of an operation: a JSON value, JSON that is already encoded, or content of another media type. */
export type AnyReply = Reply<unknown | EncodedJson | Content>

type AnyOperation = (context: OperatorContext, input: unknown, caller: Caller, options?: CallOptions) => unknown

/**
 * Calls an operation by name: authorizes the caller, validates the input, runs the operation. `input` is one flat
 * object of path parameters, query parameters and body fields. Throws RegistryError, and the reason of `options.signal`
 * once that signal is aborted.
 */
export async function localCall(
  registry: Registry,
  name: EndpointName,
  input: unknown,
  caller: Caller,
  options?: CallOptions,
): Promise<AnyReply> {
  const context = partsOf(registry)
  requireOpen(context)
  const call = new PermittedCall(name, caller)
  if (!options?.signal) return call.run(context, input, options)
  return untilAborted(context, options.signal, (own) => call.run(own, input, options))
}

/**
 * A call of an operation by a caller who may use the operation. The HTTP server and the in-process API create an
 * instance for each call. The server does so before it reads the body, so that callers without permission cannot make
 * the node parse a body.
 */
export class PermittedCall {
  readonly #name: EndpointName
  readonly #caller: Caller

  /** Throws as {@link authorize}. */
  constructor(name: EndpointName, caller: Caller) {
    authorize(endpoints[name], caller)
    this.#name = name
    this.#caller = caller
  }

  /** Validates the input and runs the operation. Throws RegistryError. */
  async run(context: OperatorContext, input: unknown, options?: CallOptions): Promise<AnyReply> {
    requireOpen(context)
    context.traffic.calls += 1
    const name = this.#name
    const endpoint: Endpoint = endpoints[name]
    if (context.database.isReadOnly && !endpoint.reads) throw toReadOnlyError()
    const parsed = v.safeParse(endpoint.input, input)
    if (!parsed.success) throw toInvalidRequest(parsed.issues)
    if (isCostly(endpoint, parsed.output)) options?.requireRoom?.()
    try {
      const seeing = await withShareLink(context, endpoint, this.#caller, options?.shareToken)
      const operation = operations[name] as AnyOperation
      const perform = () => operation(context, parsed.output, seeing, options)
      const { port } = context.upstreams
      const result =
        port === undefined ? await perform() : await readThrough(port, { name, input: parsed.output }, perform)
      if (typeof endpoint.status === 'object') return result as AnyReply
      return { status: endpoint.status ?? 200, body: result }
    } catch (error) {
      const known = toRegistryError(error)
      // A call fails with an error of the database if the registry closes meanwhile: report `closed` instead.
      if (!(known instanceof RegistryError)) requireOpen(context, error)
      throw known
    }
  }
}

/** The writes allowed for a key that is limited to an owner or to skills; the operations check the owner or skill. */
const limitedWrites: ReadonlySet<Endpoint> = new Set<Endpoint>([
  endpoints.publishSkill,
  endpoints.yankVersion,
  endpoints.unyankVersion,
  endpoints.createEvaluation,
  endpoints.deleteEvaluation,
])

/** Checks whether the caller may use an endpoint. Throws `unauthorized`, `forbidden` and `plan_required`. */
export function authorize(endpoint: Endpoint, caller: Caller): void {
  // A caller with a key needs the scope of an endpoint even if guests may use the endpoint.
  if (endpoint.auth === 'none' && (caller.kind === 'guest' || endpoint.scope === undefined)) return
  const user = requireUser(caller)
  // With scope 'any' the operation itself checks scopes, for example where an owner and an administrator need different
  // scopes.
  if (endpoint.scope !== 'any') requireScope(user, endpoint.scope ?? 'read')
  if (user.limitedTo !== undefined && !endpoint.reads && !limitedWrites.has(endpoint))
    throw new RegistryError(
      'forbidden',
      `This API key is limited to ${user.limitedTo}: it may publish, yank and evaluate versions there. Use another key.`,
    )
  if (endpoint.auth === 'admin' && user.role !== 'admin') {
    throw new RegistryError('forbidden', 'Only administrators may do this.')
  }
  if (endpoint.plan && !includesPlan(user.plan, endpoint.plan)) {
    throw new RegistryError(
      'plan_required',
      `Your plan (${user.plan}) does not include ${endpoint.tag.toLowerCase()}; an administrator can change it with ` +
        '`skillstead users set-plan`, and the operator sets the plan of new users with `--default-plan`.',
    )
  }
}

function isCostly({ costly }: Endpoint, input: unknown): boolean {
  return costly === true || (costly !== undefined && isRecord(input) && Boolean(input[costly]))
}

function toInvalidRequest(issues: readonly v.BaseIssue<unknown>[]): RegistryError {
  const errors = toFieldErrors(issues)
  const detail = errors
    .map(({ path, message }) => (path === '' ? `The body ${message}.` : `${path} ${message}.`))
    .join(' ')
  return new RegistryError('invalid_request', detail, { errors })
}

/** Adds the access of a share link to the caller. Throws `forbidden` for requests that change data. */
async function withShareLink(context: StorageContext, endpoint: Endpoint, caller: Caller, token: string | undefined) {
  if (token === undefined) return caller
  if (!endpoint.reads)
    throw new RegistryError('forbidden', 'A share link allows reading only. Send this request without it.')
  return withShare(context, caller, token)
}
