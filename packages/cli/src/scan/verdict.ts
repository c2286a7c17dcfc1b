import type { Security } from '@skillstead/protocol'

/** What a scan came to, in a few words. */
export function toVerdict({ verdict, risk, score }: Pick<Security, 'verdict' | 'risk' | 'score'>): string {
  return `${verdict}, ${score} of 100, risk ${risk}`
}
