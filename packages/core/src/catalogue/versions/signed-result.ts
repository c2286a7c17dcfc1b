import { type EvaluationResult, toTimestamp } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import { findSshSignatureProblem } from '../../kernel/ssh-signature.ts'

/** The SSH signature namespace of evaluation results: a signature for another purpose is not valid for a result. */
export const resultNamespace = 'skillstead-evaluation'

/** The author of an evaluation result and the evaluated version, which the signature covers. */
export interface SignedSubject {
  /** The username. */
  readonly author: string
  /** The id of the skill, which stays the same under a new name and on mirrors. */
  readonly skill: string
  readonly version: string
  readonly digest: string
}

/** The text that a signature of a result signs: canonical JSON (RFC 8785) of its subject and its other fields. */
export function toSignedResult({ author, skill, version, digest }: SignedSubject, result: EvaluationResult): string {
  const { signature: _signature, ...stated } = result
  const ranAt = toTimestamp(Date.parse(result.ranAt))
  return canonicalize({ ...stated, ranAt, author, skill, version, digest })!
}

/** Explains in a sentence what is wrong with the signature of a result; undefined if it is valid or there is none. */
export function findSignatureProblem(subject: SignedSubject, result: EvaluationResult): string | undefined {
  const { signature } = result
  if (signature === undefined) return undefined
  return findSshSignatureProblem(signature, resultNamespace, toSignedResult(subject, result))
}
