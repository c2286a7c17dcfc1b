import { systemClock } from '../clock.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import type { OutgoingOptions } from '../outgoing/outgoing.ts'
import { readExternalSkill } from './read-skill.ts'
import { parseSource } from './source.ts'

/**
 * Reads the SKILL.md at an address without a registry, with the same care as one does: public hosts only, unless
 * `outgoing` allows others. Throws `invalid_request`, `upstream_failed`, `upstream_timeout`.
 */
export async function readExternalText(
  url: string,
  options: OutgoingOptions = {},
): Promise<{ address: string; text: string }> {
  const source = parseSource(url)
  const outgoing = createOutgoing(options)
  try {
    return await readExternalSkill({ outgoing, clock: systemClock }, source)
  } finally {
    await outgoing.close()
  }
}
