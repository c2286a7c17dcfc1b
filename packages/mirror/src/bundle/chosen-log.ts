import type { MirrorContext } from '../run.ts'
import {
  type LogText,
  readLogFrontier,
  readLogTexts,
  readSignedCheckpoint,
  readVerifierKeys,
} from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { readUpstreamFrontier, readUpstreamTexts } from '../store/upstream-log.ts'
import { getUpstream } from '../store/upstreams.ts'
import type { BundleHeader } from './format.ts'

/** The log that a bundle is made of: this node's own, or what is here of an upstream's. */
export interface ChosenLog extends Pick<BundleHeader, 'origin' | 'epoch' | 'until' | 'checkpoint' | 'keys' | 'maker'> {
  /** How errors call it. */
  readonly name: string
  readFrontier(size: number): Promise<Buffer[]>
  /** The entries after one number, up to `until`, some at a time. */
  readTexts(after: number): AsyncIterable<readonly LogText[]>
}

/** All of the log that this is of is there for good: whatever is added meanwhile is for the next bundle. */
export async function readOwnLog(context: MirrorContext): Promise<ChosenLog> {
  const { treeSize: until, text: checkpoint } = await readSignedCheckpoint(context)
  return {
    name: 'this node',
    origin: context.origin,
    epoch: context.epoch,
    until,
    checkpoint,
    keys: await readSigningKeys(context),
    readFrontier: (size) => readLogFrontier(context, size),
    readTexts: (after) => readLogTexts(context, { after, until }),
  }
}

/**
 * The log of an upstream with the checkpoint that the upstream signed: whoever gets it needs to believe the upstream's key
 * alone. Throws `not_found`; `invalid_request` where it has no log, `conflict` where not all of it is in place.
 */
export async function readUpstreamLog(context: MirrorContext, name: string): Promise<ChosenLog> {
  const { read } = context.database
  const upstream = await getUpstream(read, name)
  const { kind, logOrigin, logEpoch, checkpoint, keys, verified, applied } = upstream
  if (kind !== 'node' && kind !== 'bundle') {
    const detail = `'${name}' is of the kind ${kind}, which signs no log. Without --upstream the bundle is of this node, with all that came in.`
    throw new RegistryError('invalid_request', detail)
  }
  const command = kind === 'bundle' ? `bundle import FILE --name ${name}` : `mirror sync ${name}`
  if (checkpoint === null || logOrigin === null || logEpoch === null) {
    throw new RegistryError('conflict', `Nothing of '${name}' is here yet: run \`skillstead ${command}\` first.`)
  }
  if (applied < verified) {
    const detail = `Of the ${verified} entries of '${name}' only ${applied} are in place: run \`skillstead ${command}\` first.`
    throw new RegistryError('conflict', detail)
  }
  return {
    name: `'${name}'`,
    origin: logOrigin,
    epoch: logEpoch,
    until: verified,
    checkpoint,
    keys,
    maker: { name: context.origin, keys: await readSigningKeys(context) },
    readFrontier: (size) => readUpstreamFrontier(read, name, size),
    readTexts: (after) => readUpstreamTexts(read, name, { after, until: verified }),
  }
}

async function readSigningKeys(context: MirrorContext): Promise<string[]> {
  const keys = (await readVerifierKeys(context)).filter(({ state }) => state !== 'retired')
  return keys.map(({ vkey }) => vkey)
}
