import { openRegistry as open, type Registry, type RegistryOptions } from '@skillstead/core'
import * as maintenance from '@skillstead/maintenance'
import { mirrorExtension } from '@skillstead/mirror/extension'
import {
  openDatabase as openPlain,
  type Database,
  type DatabaseLocation,
} from '../../packages/core/src/storage/database.ts'

/*
 * As the CLI does it: for registries that can be mirrors.
 */

export const extensions = [mirrorExtension]

export function openRegistry(options: RegistryOptions): Promise<Registry> {
  return open({ extensions, ...options })
}

export function openDatabase(location: DatabaseLocation): Promise<Database> {
  return openPlain({ ...location, extensions })
}

export function exportRegistry(...[from, to, options]: Parameters<typeof maintenance.exportRegistry>) {
  return maintenance.exportRegistry(from, to, { extensions, ...options })
}

export function importRegistry(...[from, to, options]: Parameters<typeof maintenance.importRegistry>) {
  return maintenance.importRegistry(from, to, { extensions, ...options })
}

export function restoreRegistry(...[backup, path, options]: Parameters<typeof maintenance.restoreRegistry>) {
  return maintenance.restoreRegistry(backup, path, { extensions, ...options })
}
