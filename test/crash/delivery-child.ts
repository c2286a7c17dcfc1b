import type { RegistryOptions } from '@skillstead/core'
import { createMirror } from '@skillstead/mirror'
import { openRegistry } from '../support/open-registry.ts'

/** A process to be killed: it sends the queued writes of a mirror to its upstream and exits when the queue is empty. */
export interface DeliveryChildOptions {
  readonly location: Pick<RegistryOptions, 'path' | 'databaseUrl'>
  /** Encoded as base64. */
  readonly secretKey: string
}

const { location, secretKey } = JSON.parse(process.argv[2]!) as DeliveryChildOptions
// Exit when the parent process is gone.
process.once('disconnect', () => process.exit(1))
const registry = await openRegistry({ ...location, works: false, secretKey: Buffer.from(secretKey, 'base64') })
const mirror = createMirror(registry, { onError: (error) => process.send!(String(error)) })
const { waiting, inConflict } = await mirror.outbox.deliver()
if (waiting + inConflict > 0) process.send!(JSON.stringify(await mirror.outbox.list()))
await mirror.close()
await registry.close()
process.exit(0)
