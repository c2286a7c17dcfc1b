import type { EndpointName, Parsed, Result, endpoints } from '@skillstead/protocol'
import type { CallOptions } from './call-options.ts'
import type { Caller } from './caller.ts'

/** The input of an operation, after defaults and coercions. */
export type Input<Name extends EndpointName> = Parsed<(typeof endpoints)[Name]>

/** The function behind an endpoint. `Context` is the smallest context type that the function needs. */
export type Operation<Name extends EndpointName, Context> = (
  context: Context,
  input: Input<Name>,
  caller: Caller,
  options?: CallOptions,
) => Promise<Result<(typeof endpoints)[Name]>>
