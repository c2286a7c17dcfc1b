import { statSync } from 'node:fs'
import { makePrivateFolder } from '@skillstead/core'
import { importRegistry, isExport, type ImportSummary } from '@skillstead/maintenance'
import { UsageError, text, type Arguments } from '../command.ts'
import type { Output } from '../output.ts'
import { toLocation } from '../place.ts'
import { startRowBar } from '../row-bar.ts'
import { tellEpoch, tellKeys, toKeyState, type KeyState } from '../sealed-keys.ts'
import { findSecretKey } from '../secret-key.ts'

/** What was taken in of an export, and how long that took. */
export interface TakenExport extends ImportSummary {
  readonly seconds: number
  readonly secretKey: KeyState
}

/** Whether a path is an export of a whole registry, which says so in its first line. */
export async function isExportGiven(path: string): Promise<boolean> {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true && (await isExport(path))
}

/** Takes an export into a folder without a registry, or an empty database. */
export async function importExport(path: string, given: Arguments, output: Output): Promise<TakenExport> {
  if (text(given, 'owner') !== undefined) {
    throw new UsageError('--owner is for skills that do not say whose they are; an export says it of each.')
  }
  const startedMs = performance.now()
  const bar = startRowBar(output)
  try {
    const summary = await importRegistry(path, toLocation(given, { make: makePrivateFolder }), {
      signal: given.io.interruption(),
      secretKey: findSecretKey(given),
      onProgress: bar.update,
    })
    const seconds = (performance.now() - startedMs) / 1000
    return { ...summary, seconds, secretKey: toKeyState(summary.sealed) }
  } finally {
    bar.stop()
  }
}

export function showExport(summary: TakenExport): string[] {
  const { tables, rows, digest, origin, epoch, seconds } = summary
  const [skills, versions] = [tables['skills']!.rows, tables['versions']!.rows]
  return [
    `Took in ${rows} rows: ${skills} skills, ${versions} versions, ${tables['log']!.rows} entries of the log of '${origin}'; ${seconds.toFixed(1)} s.`,
    'What is stored was read again, and is what the export has:',
    `  ${digest}`,
    ...tellEpoch(epoch),
    ...tellKeys(summary),
  ]
}
