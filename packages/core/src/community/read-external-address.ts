import { systemClock } from '../kernel/clock.ts'
import { createOutgoing } from '../http/create-outgoing.ts'
import type { OutgoingOptions } from '../http/outgoing.ts'
import { readExternalSkill } from './read-external.ts'
import { parseSource } from './external-source.ts'

/**
 * Reads the SKILL.md at an address without a registry, with the same restrictions: public hosts only, unless `outgoing`
 * allows others. Throws `invalid_request`, `upstream_failed`, `upstream_timeout`.
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
