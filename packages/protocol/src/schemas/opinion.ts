import * as v from 'valibot'
import { Timestamp } from './fields.ts'
import { Security } from './security.ts'

/** The opinion of an external service, which the operator configured, on the content of a version: it is no scan. */
export const Opinion = v.object({
  verdict: Security.entries.verdict,
  /** Sentences of the service, not of the registry. */
  reasons: v.array(v.string()),
  /** The host of the service. */
  source: v.string(),
  at: Timestamp,
})
export type Opinion = v.InferOutput<typeof Opinion>
