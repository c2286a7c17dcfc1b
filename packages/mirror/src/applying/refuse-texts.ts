import { type CatalogueContext, toAction, findInTexts, type Texts } from '@skillstead/core/internal'
import { toVerdict } from '@skillstead/scanner'
import { refuse } from './place-skill.ts'

/** A refusal where the policy on scans would quarantine or refuse text of an upstream that is no file. */
export async function refuseTexts({ scanPolicy, clock }: CatalogueContext, texts: Texts, subject: string) {
  if (Object.values(scanPolicy).every((action) => action === 'warn')) return undefined
  const verdict = toVerdict(await findInTexts(texts, clock.now()))
  if (toAction(scanPolicy, { verdict }) === 'warn') return undefined
  return refuse(
    'policy',
    `The scan calls what is said of ${subject} ${verdict}, which this node's policy does not let in.`,
  )
}
