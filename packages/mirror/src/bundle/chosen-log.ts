import { toSyncCommand } from '../alarms.ts'
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

/** The log that a bundle contains: this node's own log, or the stored copy of an upstream's log. */
export interface ChosenLog extends Pick<BundleHeader, 'origin' | 'epoch' | 'until' | 'checkpoint' | 'keys' | 'maker'> {
  /** The name of the log's node for error messages. */
  readonly name: string
  readFrontier(size: number): Promise<Buffer[]>
  /** Reads the entries after position `after` up to `until`, in batches. */
  readTexts(after: number): AsyncIterable<readonly LogText[]>
}

/** The node's own log up to its newest checkpoint. Entries added later belong to the next bundle. */
export async function readOwnLog(context: MirrorContext): Promise<ChosenLog> {
  const { treeSize: until, text: checkpoint } = await readSignedCheckpoint(context)
  return {
    name: 'this node',
    origin: context.origin,
    epoch: context.epoch,
    until,
    checkpoint,
    keys: await readMirrorKeys(context),
    readFrontier: (size) => readLogFrontier(context, size),
    readTexts: (after) => readLogTexts(context, { after, until }),
  }
}

/**
 * The stored log of an upstream with its signed checkpoint, so that readers of the bundle need only the upstream's key.
 * Throws `not_found`, `invalid_request` for an upstream without a log, and `conflict` if not all verified entries are
 * imported.
 */
export async function readUpstreamLog(context: MirrorContext, name: string): Promise<ChosenLog> {
  const { read } = context.database
  const upstream = await getUpstream(read, name)
  const { kind, logOrigin, logEpoch, checkpoint, keys, verified, applied } = upstream
  if (kind !== 'node' && kind !== 'bundle') {
    const detail = `Upstreams of kind ${kind}, such as '${name}', have no signed log. Create the bundle without --upstream: it contains this node's log with all mirrored skills.`
    throw new RegistryError('invalid_request', detail)
  }
  const command = toSyncCommand(upstream)
  if (checkpoint === null || logOrigin === null || logEpoch === null) {
    throw new RegistryError('conflict', `'${name}' was never synced. Run \`skillstead ${command}\` first.`)
  }
  if (applied < verified) {
    const detail = `Only ${applied} of the ${verified} entries of '${name}' are imported. Run \`skillstead ${command}\` first.`
    throw new RegistryError('conflict', detail)
  }
  return {
    name: `'${name}'`,
    origin: logOrigin,
    epoch: logEpoch,
    until: verified,
    checkpoint,
    keys,
    maker: { name: context.origin, keys: await readMirrorKeys(context) },
    readFrontier: (size) => readUpstreamFrontier(read, name, size),
    readTexts: (after) => readUpstreamTexts(read, name, { after, until: verified }),
  }
}

async function readMirrorKeys(context: MirrorContext): Promise<string[]> {
  const keys = (await readVerifierKeys(context)).filter(({ state }) => state !== 'retired')
  return keys.map(({ vkey }) => vkey)
}
