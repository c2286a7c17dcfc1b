import { openRegistry as open, type Registry, type RegistryOptions } from '@skillstead/core'
import * as maintenance from '@skillstead/maintenance'
import { mirrorExtension } from '@skillstead/mirror/extension'
import { openDatabase as openPlain, type Database, type DatabaseLocation } from '@skillstead/core/internal'

/** The extensions with tables, as the CLI opens a registry with them. */
export const extensions = [mirrorExtension]

/** Opens a registry with all extensions, as the CLI does. */
export async function openRegistry({
  backups,
  ...options
}: RegistryOptions & maintenance.MaintenanceOptions): Promise<Registry> {
  return open({ extensions: [...extensions, maintenance.maintenanceExtension({ backups })], ...options })
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
