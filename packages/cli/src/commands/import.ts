import { existsSync, statSync } from 'node:fs'
import { SingleBar } from 'cli-progress'
import { isUsername } from '@skillstead/protocol'
import { UsageError, text, type Command } from '../command.ts'
import { every, lineMs } from '../every.ts'
import { openFolder } from '../import/folder.ts'
import { openNdjson } from '../import/ndjson.ts'
import type { Source } from '../import/records.ts'
import { importExport, isExportGiven, showExport, type TakenExport } from '../import/import-export.ts'
import { runImport, type ImportSummary } from '../import/run-import.ts'
import { openZip } from '../import/zip.ts'
import type { Output } from '../output.ts'
import { storeOptions, withRegistry } from '../place.ts'
import { scanPolicyOption, toScanPolicy } from '../scan-policy.ts'

const refusalsShownMax = 20

/** `skillstead import PATH`: a folder of skills, a zip, records with their history, or all that another registry had. */
export const importSkills: Command<ImportSummary | TakenExport> = {
  summary:
    'Imports skills with their history, which changes nothing the second time; or an export into an empty registry.',
  words: ['PATH'],
  options: {
    owner: { value: 'NAME', help: 'whose they are; needed where the source does not say' },
    ...scanPolicyOption,
    ...storeOptions,
  },
  async run(given, output) {
    const [path] = given.words as [string]
    if (await isExportGiven(path)) return importExport(path, given, output)
    const owner = text(given, 'owner')
    if (owner !== undefined && !isUsername(owner)) {
      throw new UsageError(
        `'${owner}' is no username: use lower-case letters, digits and single inner hyphens, 39 at most.`,
      )
    }
    const source = openSource(path)
    return withRegistry(
      given,
      async (registry) => {
        const bar = startBar(source, output)
        let records = 0
        try {
          const summary = await runImport(registry, source, owner, (more) =>
            bar.update(source.share(), (records += more)),
          )
          if (summary.taken + summary.unchanged + summary.refused === 0) throw new Error(`${path} holds no skills.`)
          return summary
        } finally {
          bar.stop()
        }
      },
      { make: true, scanPolicy: toScanPolicy(given) },
    )
  },
  show(summary) {
    if ('tables' in summary) return showExport(summary)
    const { versionsCreated, seconds, refusals, warnings } = summary
    const hidden = summary.refusals.length - refusalsShownMax
    return [
      `${summary.taken} skills taken, ${summary.unchanged} unchanged, ${summary.refused} refused.`,
      `${versionsCreated} versions published, ${summary.versionsUnchanged} there already, ${summary.versionsRefused} refused; ${seconds.toFixed(1)} s, ${Math.round(versionsCreated / Math.max(seconds, 0.001))} versions/s.`,
      ...(summary.versionsQuarantined > 0
        ? [`${summary.versionsQuarantined} versions wait for an administrator.`]
        : []),
      ...(summary.filesMissing > 0
        ? [`${summary.filesMissing} files are named in the source without their content, and were left out.`]
        : []),
      ...(versionsCreated === 0 && summary.refused === 0 ? ['Nothing changed: all of this was there already.'] : []),
      ...Object.entries(warnings).map(([code, count]) => `  warning ${code}: ${count} versions`),
      ...refusals.slice(0, refusalsShownMax).map(({ id, reason }) => `  refused ${id}: ${reason}`),
      ...(hidden > 0 ? [`  and ${hidden} more; --json lists them.`] : []),
    ]
  },
}

function openSource(path: string): Source {
  if (!existsSync(path)) throw new Error(`There is nothing at ${path}.`)
  if (statSync(path).isDirectory()) return openFolder(path)
  if (/\.(nd)?json(l)?(\.gz)?$/i.test(path)) return openNdjson(path)
  if (/\.zip$/i.test(path)) return openZip(path)
  throw new UsageError(`${path} is none of: a folder of skills, a .zip, .ndjson or .ndjson.gz.`)
}

function startBar(source: Source, output: Output): { update(share: number, records: number): void; stop(): void } {
  if (output.json || !output.stderr.isTTY) {
    const isDue = every(lineMs)
    return {
      update: (share, records) => void (isDue() && output.say(`${Math.floor(share * 100)}%, ${records} skills`)),
      stop() {},
    }
  }
  const bar = new SingleBar({
    format: '{bar} {percentage}% | {records} skills | {duration_formatted}',
    stream: output.stderr,
  })
  bar.start(1, source.share(), { records: 0 })
  return { update: (share, records) => bar.update(share, { records }), stop: () => bar.stop() }
}
