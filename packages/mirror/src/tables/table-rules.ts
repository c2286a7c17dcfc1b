import type { TableRule } from '@skillstead/core/internal'
import type { MirrorTables } from './mirror-tables.ts'

/** How exports and backups treat each table of the mirror. */
export const tables: Readonly<Record<keyof MirrorTables, TableRule>> = {
  upstreams: { key: ['name'], instead: { lease: 'null', lease_until: '0' }, sealed: 'credential' },
  upstream_log: { key: ['upstream', 'seq'] },
  upstream_tiles: { key: ['upstream', 'level', 'n'] },
  upstream_refusals: { key: ['upstream', 'subject'] },
  upstream_links: { key: ['user_id', 'upstream'], sealed: 'credential' },
  upstream_writes: { key: ['id'], isHeavy: true },
}
