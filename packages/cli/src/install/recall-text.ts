import { toOneLine, type Recalled } from '@skillstead/protocol'

/** The recall in an answer of a registry or in a file, which may have anything; undefined for another value. */
export function readRecalled(value: unknown): Recalled | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { range, reason, at } = value as Record<string, unknown>
  const isRead = typeof range === 'string' && typeof reason === 'string' && typeof at === 'string'
  return isRead ? { range, reason, at } : undefined
}

/** A recall as the end of a sentence without its period. */
export function toRecallText({ range, reason }: Recalled): string {
  return toOneLine(`recalled (${range}): ${reason}`)
}
