import {
  readLogFrontier,
  readLogTexts,
  readSignedCheckpoint,
  readVerifierKeys,
  type LogText,
  type Registry,
} from '@skillstead/core'
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
export async function readOwnLog(registry: Registry): Promise<ChosenLog> {
  const { treeSize: until, text: checkpoint } = await readSignedCheckpoint(registry)
  return {
    name: 'this node',
    origin: registry.origin,
    epoch: registry.epoch,
    until,
    checkpoint,
    keys: await readSigningKeys(registry),
    readFrontier: (size) => readLogFrontier(registry, size),
    readTexts: (after) => readLogTexts(registry, { after, until }),
  }
}

/**
 * The log of an upstream with the checkpoint that the upstream signed: whoever gets it needs to believe the upstream's key
 * alone. Throws `not_found`; `invalid_request` where it has no log, `conflict` where not all of it is in place.
 */
export async function readUpstreamLog(registry: Registry, name: string): Promise<ChosenLog> {
  const { read } = registry.database
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
    maker: { name: registry.origin, keys: await readSigningKeys(registry) },
    readFrontier: (size) => readUpstreamFrontier(read, name, size),
    readTexts: (after) => readUpstreamTexts(read, name, { after, until: verified }),
  }
}

async function readSigningKeys(registry: Registry): Promise<string[]> {
  const keys = (await readVerifierKeys(registry)).filter(({ state }) => state !== 'retired')
  return keys.map(({ vkey }) => vkey)
}
