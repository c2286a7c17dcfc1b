import { statSync } from 'node:fs'
import { makePrivateFolder } from '@skillstead/core/internal'
import { importRegistry, isExport, type ImportSummary } from '@skillstead/maintenance'
import { mirrorExtension } from '@skillstead/mirror/extension'
import { UsageError, textOption, type Arguments } from '../command/command.ts'
import { toStoreLocation } from '../registry/place.ts'
import { toEpochLines, toKeyLines, toKeyState, type KeyState } from '../registry/sealed-keys.ts'
import { findSecretKey } from '../registry/secret-key.ts'
import type { Output } from '../terminal/output.ts'
import { startRowBar } from '../terminal/progress-bar.ts'

/** The result of importing an export, with its duration. */
export interface TakenExport extends ImportSummary {
  readonly seconds: number
  readonly secretKey: KeyState
}

/** Whether the path is an export of a whole registry, which its first line declares. */
export async function isExportGiven(path: string): Promise<boolean> {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true && (await isExport(path))
}

/** Imports an export into a folder without a registry, or into an empty database. */
export async function importExport(path: string, given: Arguments, output: Output): Promise<TakenExport> {
  if (textOption(given, 'owner') !== undefined) {
    throw new UsageError('--owner cannot be used with an export, which names the owner of each skill.')
  }
  const startedMs = performance.now()
  const bar = startRowBar(output)
  try {
    const summary = await importRegistry(path, toStoreLocation(given, { make: makePrivateFolder }), {
      extensions: [mirrorExtension],
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
    `Imported ${rows} rows: ${skills} skills, ${versions} versions, ${tables['log']!.rows} log entries of '${origin}'; ${seconds.toFixed(1)} s.`,
    'The stored rows were read again and match the export:',
    `  ${digest}`,
    ...toEpochLines(epoch),
    ...toKeyLines(summary),
  ]
}
