import { existsSync, statSync } from 'node:fs'
import { localApi, systemCaller, type Registry } from '@skillstead/core'
import { partsOf, runImport, type ImportSummary } from '@skillstead/core/internal'
import { cutList, isUsername, type PathReason, toOneLine } from '@skillstead/protocol'
import { openFolder, openPlugin, openZip, type Plugin, type Source } from '@skillstead/skill-format/archives'
import { UsageError, command, textOption } from '../../command/command.ts'
import { importExport, isExportGiven, showExport, type TakenExport } from '../../import/import-export.ts'
import { openNdjson } from '../../import/ndjson.ts'
import { toPluginLines, type PluginResult } from '../../plugin/plugin-lines.ts'
import { putPluginPack, type PluginSkill } from '../../plugin/plugin-pack.ts'
import { storeOptions, withRegistry } from '../../registry/place.ts'
import { scanPolicyOption, toScanPolicy } from '../../registry/registry-options.ts'
import { toReasonLines } from '../../terminal/reason-lines.ts'
import { createPace, toPaceText } from '../../terminal/pace.ts'
import { startBar } from '../../terminal/progress-bar.ts'
import { toCount } from '../../terminal/output.ts'

type ImportResult = ImportSummary & (PluginResult | { readonly plugin?: undefined })

const refusalsShownMax = 20

export const commands = {
  import: command({
    description:
      'Import skills with their history from a folder, a zip, a tar.gz or .ndjson[.gz] records, or an export into an empty registry. A plugin (plugin.json) also becomes a pack. A second import changes nothing.',
    words: ['PATH'],
    options: {
      owner: { value: 'NAME', help: 'the owner; required if the source does not name one' },
      ...scanPolicyOption,
      ...storeOptions,
    },
    async run(given, output): Promise<TakenExport | ImportResult> {
      given.io.limitMemory?.()
      const [path] = given.words
      if (await isExportGiven(path)) return importExport(path, given, output)
      const owner = textOption(given, 'owner')
      if (owner !== undefined && !isUsername(owner)) {
        throw new UsageError(
          `'${owner}' is not a valid username. Use at most 39 lower-case letters, digits and single inner hyphens.`,
        )
      }
      const plugin = existsSync(path) ? await openPlugin(path) : undefined
      const source = plugin ?? openImportSource(path)
      const records: PluginSkill[] = []
      return withRegistry(
        given,
        async (registry) => {
          const toPace = createPace()
          let skills = 0
          let versions = 0
          let parts = { text: '' }
          const bar = startBar(output, {
            format: '{bar} {percentage}% | {text}',
            total: 1,
            parts,
            toLine: (share) => `${Math.floor(share * 100)}%, ${parts.text}`,
          })
          try {
            const summary = await runImport(partsOf(registry), source, {
              owner,
              caller: systemCaller,
              onRecord: plugin && (({ id, ...record }) => void records.push({ path: id, ...record })),
              onProgress(moreSkills, moreVersions) {
                skills += moreSkills
                versions += moreVersions
                const share = source.share()
                const pace = toPace({
                  phase: 'import',
                  done: versions,
                  total: share > 0 ? versions / share : undefined,
                })
                parts = { text: `${toCount(skills, 'skill')}, ${toCount(versions, 'version')}${toPaceText(pace)}` }
                bar.update(share, parts)
              },
            })
            if (summary.taken + summary.unchanged + summary.refused === 0)
              throw new Error(`${path} contains no skills. Pass a folder with SKILL.md files at any depth.`)
            return plugin ? { ...summary, ...(await makePack(registry, plugin, records, summary.omitted)) } : summary
          } finally {
            bar.stop()
          }
        },
        { make: true, scanPolicy: toScanPolicy(given) },
      )
    },
    show(summary) {
      if ('tables' in summary) return showExport(summary)
      if (summary.plugin !== undefined) return [...toPluginLines(summary), ...toReasonLines(summary)]
      const { versionsCreated, seconds, invalid, flagged, refusals, warnings } = summary
      const [omitted, changed] = [summary.omitted, summary.changed].map((list) => cutList(list, refusalsShownMax))
      const unlisted = omitted!.more + changed!.more
      return [
        `${toCount(summary.taken, 'skill')} imported${invalid.length > 0 ? ` (${toCount(new Set(invalid.map(({ id }) => id)).size)} not valid, see below)` : ''}, ${toCount(summary.unchanged)} unchanged, ${toCount(summary.refused)} refused.`,
        `${toCount(versionsCreated, 'version')} published, ${toCount(summary.versionsUnchanged)} unchanged, ${toCount(summary.versionsRefused)} refused; ${seconds.toFixed(1)} s, ${toCount(Math.round(versionsCreated / Math.max(seconds, 0.001)))} a second.`,
        ...(summary.versionsQuarantined > 0
          ? [`${toCount(summary.versionsQuarantined, 'version')} quarantined; an administrator has to release them.`]
          : []),
        ...(summary.filesMissing > 0
          ? [`${toCount(summary.filesMissing, 'file')} left out: the source names them without their content.`]
          : []),
        ...(versionsCreated === 0 && summary.refused === 0 ? ['Nothing changed: everything was imported before.'] : []),
        ...Object.entries(warnings).map(([code, count]) => `  warning ${code}: ${toCount(count, 'version')}`),
        ...toListLines('flagged', flagged),
        ...toReasonLines({ omitted: omitted!.shown, changed: changed!.shown }),
        ...(unlisted > 0 ? [`  and ${unlisted} more omitted or changed; use --json to list all.`] : []),
        ...toListLines('invalid', invalid),
        ...toListLines('refused', refusals),
      ]
    },
  }),
}

/** A line for each of the first skills or versions of a list, and a line with the number of further entries. */
function toListLines(what: string, list: readonly { readonly id: string; readonly reason: string }[]): string[] {
  const hidden = list.length - refusalsShownMax
  return [
    ...list.slice(0, refusalsShownMax).map(({ id, reason }) => `  ${what} ${toOneLine(id)}: ${toOneLine(reason)}`),
    ...(hidden > 0 ? [`  and ${hidden} more ${what}; use --json to list all.`] : []),
  ]
}

/** Makes the pack of an imported plugin, as the owner of the plugin. */
async function makePack(
  registry: Registry,
  plugin: Plugin,
  records: readonly PluginSkill[],
  omitted: readonly PathReason[],
) {
  const skills = records.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const owner = skills.find(({ fullName }) => fullName !== undefined)?.fullName?.split('/')[0]
  const caller = owner === undefined ? systemCaller : await registry.getCaller(owner)
  const pack = await putPluginPack(localApi(registry, caller), plugin, skills)
  return { plugin: plugin.name, skills, pack, omitted: [...plugin.omitted, ...omitted] }
}

function openImportSource(path: string): Source {
  if (!existsSync(path)) throw new Error(`${path} does not exist.`)
  if (statSync(path).isDirectory()) return openFolder(path)
  if (/\.(nd)?json(l)?(\.gz)?$/i.test(path)) return openNdjson(path)
  if (/\.zip$/i.test(path)) return openZip(path)
  if (/\.(?:tar\.gz|tgz)$/i.test(path)) return openZip(path, 'tar.gz')
  throw new UsageError(`${path} cannot be imported. Pass a folder of skills, a .zip, .tar.gz, .ndjson or .ndjson.gz.`)
}
