import type { EndpointName, Parsed, endpoints } from '@skillstead/protocol'

/** The input of an operation, after defaults and coercions. */
export type Input<Name extends EndpointName> = Parsed<(typeof endpoints)[Name]>
