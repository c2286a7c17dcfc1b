import type { MirrorContext } from '../run.ts'
import { resolve } from 'node:path'
import { RegistryError } from '@skillstead/protocol'
import { requireUpstreamName, requireVerifierKey, toUpstreamSettings } from '../settings.ts'
import { insertUpstream, listUpstreams } from '../store/upstreams.ts'
import type { Upstream } from '../types.ts'
import type { BundleHeader } from './format.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** The upstream to which a bundle belongs. It is determined before the bundle is verified. */
export interface BundleUpstream {
  readonly name: string
  /** Undefined if the upstream does not exist yet. */
  readonly upstream: Upstream | undefined
  /** The trusted verifier keys. Empty if the bundle's own keys are trusted on first use. */
  readonly keys: readonly string[]
}

interface Given {
  readonly name?: string
  readonly keys?: readonly string[]
}

/**
 * Finds the upstream with a bundle's origin, whether it is synced over the network or by bundles, or the name for a new
 * upstream. Throws `invalid_request`, and `name_taken` if the name belongs to another upstream.
 */
export async function findBundleUpstream(
  context: MirrorContext,
  { origin }: BundleHeader,
  { name: wanted, keys }: Given,
): Promise<BundleUpstream> {
  keys?.forEach(requireVerifierKey)
  if (wanted !== undefined) requireUpstreamName(wanted)
  if (origin === context.origin) {
    throw new RegistryError(
      'invalid_request',
      "This bundle was created from this node's own log. There is nothing to import.",
    )
  }
  const upstreams = await listUpstreams(context.database.read)
  const name = wanted ?? upstreams.find(({ logOrigin }) => logOrigin === origin)?.name ?? toUpstreamName(origin)
  const upstream = upstreams.find((one) => one.name === name)
  if (upstream) requireFit(upstream, origin, wanted !== undefined)
  return { name, upstream, keys: keys ?? upstream?.keys ?? [] }
}

/** Creates the upstream of a verified bundle. Throws `name_taken`. */
export async function addBundleUpstream(
  context: MirrorContext,
  name: string,
  { file, header: { origin, epoch } }: { readonly file: string; readonly header: BundleHeader },
  { keys = [] }: Given,
): Promise<void> {
  const settings = { ...toUpstreamSettings({ everySeconds: 0, maxAgeSeconds: 0 }), pinned: keys.length > 0 }
  await context.database.writer.write(async (trx) => {
    await insertUpstream(trx, {
      name,
      kind: 'bundle',
      location: resolve(file),
      settings,
      keys,
      credential: null,
      at: context.clock.now(),
    })
    // The origin is stored now, so that the next import finds this upstream even if the current import is killed.
    const known = { log_origin: origin, log_epoch: epoch }
    await withUpstreams(trx).updateTable('upstreams').set(known).where('name', '=', name).execute()
  })
}

function requireFit({ name, kind, logOrigin }: Upstream, origin: string, isNamed: boolean): void {
  const hasLog = kind === 'node' || kind === 'bundle'
  // An upstream that was never synced takes the origin of the bundle if the operator names it.
  if (hasLog && (logOrigin === origin || (logOrigin === null && (isNamed || kind === 'bundle')))) return
  const what = hasLog ? (logOrigin ?? 'a node that was never synced') : `an upstream of kind ${kind}`
  const detail = `This bundle is of ${origin}, but the upstream '${name}' is ${what}. Choose another name with --name.`
  throw new RegistryError('name_taken', detail)
}

const nameCharactersMax = 64

/** A name for an upstream, made from its origin: `registry-example-com` from `registry.example.com`. */
function toUpstreamName(origin: string): string {
  const name = origin
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, nameCharactersMax)
    .replaceAll(/^-|-$/g, '')
  return name === '' ? 'bundle' : name
}
