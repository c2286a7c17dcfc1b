import {
  canExclude,
  compareNew,
  findInTexts,
  toPolicyAction,
  toJudgedVerdict,
  type CatalogueContext,
  type Inspection,
  type ListedVersion,
  type PackedContent,
  type Texts,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { toVerdict } from '@skillstead/scanner'
import { refusePlace, type Refusal } from './place-skill.ts'

interface NewVersion {
  readonly content: Pick<PackedContent, 'digest'>
  readonly inspection: Inspection
  readonly number: string
  /** Milliseconds since 1970. */
  readonly publishedAt: number
  /** The other stored versions of the skill, highest first. */
  readonly others: readonly ListedVersion[]
  readonly subject: string
}

/**
 * Refuses a version that the scan policy would quarantine or refuse, for its content or for what it changes: no user of
 * this node could release the version from quarantine. The change is measured from the version's baseline among the
 * versions on this node.
 */
export async function refuseScan(
  { scanPolicy }: CatalogueContext,
  trx: WriteTransaction,
  { content, inspection, number, publishedAt, others, subject }: NewVersion,
): Promise<Refusal | undefined> {
  if (!canExclude(scanPolicy)) return undefined
  const { scan } = inspection
  const advice = await compareNew(trx, others, { number, publishedAt, digest: content.digest, inspection })
  if (toPolicyAction(scanPolicy, scan, advice) === 'warn') return undefined
  return toScanRefusal(subject, toJudgedVerdict(scanPolicy, scan, advice))
}

/**
 * Refuses texts that are in no file, such as the description of a pack, if the scan policy would quarantine or refuse
 * them.
 */
export async function refuseTexts(
  { scanPolicy, scanRules, clock }: CatalogueContext,
  texts: Texts,
  subject: string,
): Promise<Refusal | undefined> {
  if (!canExclude(scanPolicy)) return undefined
  const verdict = toVerdict(await findInTexts(scanRules, texts, clock.now()))
  return toPolicyAction(scanPolicy, { verdict }) === 'warn'
    ? undefined
    : toScanRefusal(`the texts of ${subject}`, verdict)
}

function toScanRefusal(subject: string, verdict: string): Refusal {
  return refusePlace('policy', `The scan rates ${subject} as ${verdict}, which this node's scan policy excludes.`)
}
