import { partsOf, putStub } from '@skillstead/core/internal'
import { type Registry, systemCaller } from '@skillstead/core'

/** Creates a stub, a skill of which only the name is known, as the operator. */
export function createStub(registry: Registry, stub: Parameters<typeof putStub>[2]) {
  const context = partsOf(registry)
  return context.database.writer.write((trx) => putStub(context, trx, stub, systemCaller))
}
