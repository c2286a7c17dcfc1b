import { existsSync, statSync } from 'node:fs'
import { systemCaller } from '@skillstead/core'
import { partsOf, runImport } from '@skillstead/core/internal'
import { isUsername } from '@skillstead/protocol'
import { openFolder, openZip, type Source } from '@skillstead/skill-format/archives'
import { UsageError, command, textOption } from '../../command/command.ts'
import { importExport, isExportGiven, showExport } from '../../import/import-export.ts'
import { openNdjson } from '../../import/ndjson.ts'
import { storeOptions, withRegistry } from '../../registry/place.ts'
import { scanPolicyOption, toScanPolicy } from '../../registry/registry-options.ts'
import { toReasonLines } from '../../terminal/reason-lines.ts'
import { startBar } from '../../terminal/progress-bar.ts'
import { toCount } from '../../terminal/output.ts'

const refusalsShownMax = 20

export const commands = {
  import: command({
    description:
      'Import skills with their history from a folder, a zip or .ndjson[.gz] records, or an export into an empty registry. A second import changes nothing.',
    words: ['PATH'],
    options: {
      owner: { value: 'NAME', help: 'the owner; required if the source does not name one' },
      ...scanPolicyOption,
      ...storeOptions,
    },
    async run(given, output) {
      given.io.limitMemory?.()
      const [path] = given.words
      if (await isExportGiven(path)) return importExport(path, given, output)
      const owner = textOption(given, 'owner')
      if (owner !== undefined && !isUsername(owner)) {
        throw new UsageError(
          `'${owner}' is not a valid username. Use at most 39 lower-case letters, digits and single inner hyphens.`,
        )
      }
      const source = openImportSource(path)
      return withRegistry(
        given,
        async (registry) => {
          let records = 0
          const bar = startBar(output, {
            format: '{bar} {percentage}% | {records} skills | {duration_formatted}',
            total: 1,
            parts: { records },
            toLine: (share) => `${Math.floor(share * 100)}%, ${records} skills`,
          })
          try {
            const summary = await runImport(partsOf(registry), source, {
              owner,
              caller: systemCaller,
              onProgress: (more) => bar.update(source.share(), { records: (records += more) }),
            })
            if (summary.taken + summary.unchanged + summary.refused === 0)
              throw new Error(`${path} contains no skills. Pass a folder with SKILL.md files at any depth.`)
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
      const unlisted =
        Math.max(0, summary.omitted.length - refusalsShownMax) + Math.max(0, summary.changed.length - refusalsShownMax)
      const hidden = summary.refusals.length - refusalsShownMax
      return [
        `${toCount(summary.taken, 'skill')} imported, ${toCount(summary.unchanged)} unchanged, ${toCount(summary.refused)} refused.`,
        `${toCount(versionsCreated, 'version')} published, ${toCount(summary.versionsUnchanged)} unchanged, ${toCount(summary.versionsRefused)} refused; ${seconds.toFixed(1)} s, ${toCount(Math.round(versionsCreated / Math.max(seconds, 0.001)))} a second.`,
        ...(summary.versionsQuarantined > 0
          ? [`${toCount(summary.versionsQuarantined, 'version')} quarantined; an administrator has to release them.`]
          : []),
        ...(summary.filesMissing > 0
          ? [`${toCount(summary.filesMissing, 'file')} left out: the source names them without their content.`]
          : []),
        ...(versionsCreated === 0 && summary.refused === 0 ? ['Nothing changed: everything was imported before.'] : []),
        ...Object.entries(warnings).map(([code, count]) => `  warning ${code}: ${toCount(count, 'version')}`),
        ...toReasonLines({
          omitted: summary.omitted.slice(0, refusalsShownMax),
          changed: summary.changed.slice(0, refusalsShownMax),
        }),
        ...(unlisted > 0 ? [`  and ${unlisted} more omitted or changed; use --json to list all.`] : []),
        ...refusals.slice(0, refusalsShownMax).map(({ id, reason }) => `  refused ${id}: ${reason}`),
        ...(hidden > 0 ? [`  and ${hidden} more; use --json to list all.`] : []),
      ]
    },
  }),
}

function openImportSource(path: string): Source {
  if (!existsSync(path)) throw new Error(`${path} does not exist.`)
  if (statSync(path).isDirectory()) return openFolder(path)
  if (/\.(nd)?json(l)?(\.gz)?$/i.test(path)) return openNdjson(path)
  if (/\.zip$/i.test(path)) return openZip(path)
  throw new UsageError(`${path} cannot be imported. Pass a folder of skills, a .zip, .ndjson or .ndjson.gz.`)
}
