import { openRegistry as open, type Registry, type RegistryOptions } from '@skillstead/core'
import { mirrorExtension } from '@skillstead/mirror/extension'

/** Opens a registry as the CLI does: one that can be a mirror. */
export function openRegistry(options: RegistryOptions): Promise<Registry> {
  return open({ extensions: [mirrorExtension], ...options })
}
