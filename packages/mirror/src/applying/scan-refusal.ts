import {
  findInTexts,
  toAction,
  toPolicyVerdict,
  type CatalogueContext,
  type Inspection,
  type Texts,
} from '@skillstead/core/internal'
import { toVerdict } from '@skillstead/scanner'
import { refuse, type Refusal } from './place-skill.ts'

/** Refuses a version that the scan policy would quarantine or refuse: no user of this node could release it. */
export function refuseScan(
  { scanPolicy }: CatalogueContext,
  { scan }: Inspection,
  subject: string,
): Refusal | undefined {
  return toAction(scanPolicy, scan) === 'warn' ? undefined : toRefusal(subject, toPolicyVerdict(scan))
}

/**
 * Refuses texts outside of files, such as the description of a pack, that the scan policy would quarantine or refuse.
 */
export async function refuseTexts(
  { scanPolicy, clock }: CatalogueContext,
  texts: Texts,
  subject: string,
): Promise<Refusal | undefined> {
  if (Object.values(scanPolicy).every((action) => action === 'warn')) return undefined
  const verdict = toVerdict(await findInTexts(texts, clock.now()))
  return toAction(scanPolicy, { verdict }) === 'warn' ? undefined : toRefusal(`the texts of ${subject}`, verdict)
}

function toRefusal(subject: string, verdict: string): Refusal {
  return refuse('policy', `The scan rates ${subject} as ${verdict}, which this node's scan policy excludes.`)
}
