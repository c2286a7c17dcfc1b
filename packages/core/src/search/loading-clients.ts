import { findClientProblems, skillClients } from '@skillstead/protocol'

/**
 * The clients that load a skill without a problem, as the page of the skill shows them: bits in the order of
 * `skillClients`, the value of `skills.loaded_by`. After a change of `skillClients`, a migration must set the column to
 * null, and `documentVersion` must increase, so that the values are computed again.
 */
export function toLoadedBy(frontmatter: Readonly<Record<string, unknown>>, name: string): number {
  const loads = skillClients.filter((client) => findClientProblems({ frontmatter }, client, name).problems.length === 0)
  return loads.reduce((bits, { id }) => bits | toClientBit(id), 0)
}

/** The bit of a client in the values of {@link toLoadedBy}. */
export function toClientBit(client: string): number {
  return 1 << skillClients.findIndex(({ id }) => id === client)
}
