import type { MirrorContext } from '../run.ts'
import { resolve } from 'node:path'
import { RegistryError } from '@skillstead/protocol'
import { requireUpstreamName, requireVerifierKey, toSettings } from '../settings.ts'
import { insertUpstream, listUpstreams } from '../store/upstreams.ts'
import type { Upstream } from '../types.ts'
import type { BundleHeader } from './format.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** Where a bundle belongs, as far as that is known before it is verified. */
export interface BundleUpstream {
  readonly name: string
  /** Undefined where it is to be made. */
  readonly upstream: Upstream | undefined
  /** The verifier keys to believe; none where the bundle's own are taken on first use. */
  readonly keys: readonly string[]
}

interface Given {
  readonly name?: string
  readonly keys?: readonly string[]
}

/**
 * The registry here that follows the origin of a bundle, whether over the network or by bundles, or the name that one
 * would get. Throws `invalid_request`, and `name_taken` for a name that means something else.
 */
export async function findBundleUpstream(
  context: MirrorContext,
  { origin }: BundleHeader,
  { name: wanted, keys }: Given,
): Promise<BundleUpstream> {
  keys?.forEach(requireVerifierKey)
  if (wanted !== undefined) requireUpstreamName(wanted)
  if (origin === context.origin) {
    throw new RegistryError('invalid_request', 'This bundle was made of this very node: there is nothing to bring in.')
  }
  const upstreams = await listUpstreams(context.database.read)
  const name = wanted ?? upstreams.find(({ logOrigin }) => logOrigin === origin)?.name ?? toName(origin)
  const upstream = upstreams.find((one) => one.name === name)
  if (upstream) requireFit(upstream, origin, wanted !== undefined)
  return { name, upstream, keys: keys ?? upstream?.keys ?? [] }
}

/** Makes the upstream of a bundle that was verified. Throws `name_taken`. */
export async function addBundleUpstream(
  context: MirrorContext,
  name: string,
  { file, header: { origin, epoch } }: { readonly file: string; readonly header: BundleHeader },
  { keys = [] }: Given,
): Promise<void> {
  const settings = { ...toSettings({ everySeconds: 0, maxAgeSeconds: 0 }), pinned: keys.length > 0 }
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
    // An import that is killed next is found again by them.
    const known = { log_origin: origin, log_epoch: epoch }
    await withUpstreams(trx).updateTable('upstreams').set(known).where('name', '=', name).execute()
  })
}

function requireFit({ name, kind, logOrigin }: Upstream, origin: string, isNamed: boolean): void {
  const hasLog = kind === 'node' || kind === 'bundle'
  // One that was never synced becomes whatever the operator says that it is.
  if (hasLog && (logOrigin === origin || (logOrigin === null && (isNamed || kind === 'bundle')))) return
  const what = hasLog ? (logOrigin ?? 'a node that was never synced') : `of the kind ${kind}`
  const detail = `This bundle is of ${origin}, and the upstream '${name}' is ${what}. Give it another name with --name.`
  throw new RegistryError('name_taken', detail)
}

const nameCharactersMax = 64

/** `registry.example.com` becomes `registry-example-com`. */
function toName(origin: string): string {
  const name = origin
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, nameCharactersMax)
    .replaceAll(/^-|-$/g, '')
  return name === '' ? 'bundle' : name
}
