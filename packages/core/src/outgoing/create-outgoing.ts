import { RegistryError } from '@skillstead/protocol'
import type { Outgoing, OutgoingOptions } from './outgoing.ts'

export function createOutgoing(options: OutgoingOptions): Outgoing {
  void options
  const refuse = () => Promise.reject(new RegistryError('not_implemented', 'Outgoing requests are not built yet.'))
  return { requirePublic: refuse, get: refuse, readTxt: refuse, close: async () => {} }
}
