import { RegistryError, type MirrorStatus, type MirrorWrite } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import { invalidField } from '../kernel/field-errors.ts'
import type { Input } from '../kernel/operation-input.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { UpstreamOperator } from '../catalogue/context/upstream-port.ts'
import { toOffset, toPage } from '../kernel/paging.ts'

/** GET /mirrors: an empty list if the registry has no mirror. */
export async function listMirrors({
  upstreams,
}: CatalogueContext): Promise<{ mirrors: MirrorStatus[]; total: number }> {
  const mirrors = (await upstreams.operator?.list()) ?? []
  return { mirrors, total: mirrors.length }
}

/** GET /mirrors/<upstream>. */
export function showMirror(context: CatalogueContext, { upstream }: Input<'getMirror'>): Promise<MirrorStatus> {
  return getOperator(context).get(upstream)
}

/** POST /mirrors. */
export async function addMirror(context: CatalogueContext, input: Input<'addMirror'>, caller: Caller) {
  const added = await getOperator(context).add(input)
  await auditMirror(context, caller, 'mirror.add', added.name, { kind: added.kind, location: added.location })
  return added
}

/** DELETE /mirrors/<upstream>: mirrored content stays. */
export async function removeMirror(
  context: CatalogueContext,
  { upstream }: Input<'removeMirror'>,
  caller: Caller,
): Promise<undefined> {
  await getOperator(context).remove(upstream)
  await auditMirror(context, caller, 'mirror.remove', upstream, {})
}

/** POST /mirrors/<upstream>/sync. */
export async function syncMirror(
  context: CatalogueContext,
  input: Input<'syncMirror'>,
  caller: Caller,
): Promise<MirrorStatus> {
  const { upstream, ...options } = input
  const status = await getOperator(context).sync(upstream, options)
  // Audit only a sync with options, which is an operator's decision, such as resuming a paused mirror. Other syncs also
  // run automatically.
  if (Object.values(options).some(Boolean)) await auditMirror(context, caller, 'mirror.sync', upstream, options)
  return status
}

/** GET /mirrors/<upstream>/writes. Default: pending and conflicting writes. */
export async function listMirrorWrites(context: CatalogueContext, input: Input<'listMirrorWrites'>) {
  const { upstream, state, page, limit } = input
  const states = state === undefined ? (['pending', 'conflict'] as const) : [state]
  const wanted = { states, offset: toOffset(page, limit), limit }
  const { writes, total } = await getOperator(context).listWrites(upstream, wanted)
  return { writes, ...toPage(total, page, limit) }
}

/** POST /mirrors/<upstream>/writes/<id>. */
export async function settleMirrorWrite(
  context: CatalogueContext,
  { upstream, id, action, newName }: Input<'settleMirrorWrite'>,
  caller: Caller,
): Promise<MirrorWrite> {
  const operator = getOperator(context)
  const write = await operator.settleWrite(upstream, id, toSettlement(action, newName))
  await auditMirror(context, caller, `mirror.${action}`, write.subject, { id, upstream, newName })
  return write
}

function toSettlement(action: Input<'settleMirrorWrite'>['action'], newName: string | undefined) {
  if (action !== 'rename') return { action }
  if (newName !== undefined) return { action, newName }
  throw invalidField(
    'newName',
    'is required for `rename`. Specify the new name of the skill on the upstream, without an owner',
  )
}

function getOperator({ upstreams }: CatalogueContext): UpstreamOperator {
  if (upstreams.operator) return upstreams.operator
  throw new RegistryError(
    'conflict',
    'This registry has no mirror and cannot sync from upstreams. A node that is started with `skillstead serve` has one.',
  )
}

async function auditMirror(
  { database, clock }: StorageContext,
  caller: Caller,
  action: string,
  subject: string,
  data: Record<string, unknown>,
): Promise<void> {
  await database.writer.write((trx) => recordAudit(trx, { caller, action, subject, at: clock.now(), data }))
}
