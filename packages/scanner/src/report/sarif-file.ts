import { closeSync, openSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Security } from '@skillstead/protocol'
import type { Unreadable } from '@skillstead/skill-format/archives'
import type { AddedRules } from '../rules/added-rules.ts'
import { toRegion, toSarifLog, toSarifResult, toUri } from './sarif.ts'
import { isSampleUrl, locateInSample, toSkillDigest, type Sample } from './sample.ts'

/**
 * Opens a SARIF log of several skills; `-` is standard output. The log has one run, because GitHub accepts one run of a
 * tool. Throws if the file cannot be written.
 */
export function openSarifFile(file: string, print: (text: string) => void, added?: AddedRules) {
  const handle = file === '-' ? undefined : openFile(file)
  const skills: object[] = []
  const results: object[] = []
  const notifications: object[] = []
  let executionSuccessful = true
  return {
    add(sample: Sample, { findings, cut, score, verdict, risk }: Security): void {
      for (const finding of findings) {
        const { path, line, column, excerpt } = finding
        const { file: outer, inside } = locateInSample(sample, path)
        const artifactLocation = toArtifact(outer)
        // A line of an archive means nothing, so the location names the file in the archive and the line in that file.
        const inArchive = {
          physicalLocation: { artifactLocation, region: { startLine: 1, snippet: { text: excerpt } } },
          logicalLocations: [{ fullyQualifiedName: `${inside}:${line}:${column}`, kind: 'resource' }],
        }
        const location = inside === undefined ? toRegion(finding, artifactLocation) : inArchive
        results.push(toSarifResult(finding, inside ?? outer, location, added))
      }
      for (const { path, reason } of cut) {
        notifications.push({
          level: 'warning',
          message: { text: `${path} was not scanned completely. ${reason}` },
          locations: [{ physicalLocation: { artifactLocation: toArtifact(locateInSample(sample, path).file) } }],
        })
      }
      skills.push({ source: sample.id, digest: toSkillDigest(sample), score, verdict, risk })
    },
    addUnreadable({ id, reason }: Unreadable): void {
      executionSuccessful = false
      notifications.push({ level: 'error', message: { text: `${id} was not scanned. ${reason}` } })
    },
    end(): void {
      const endTimeUtc = new Date().toISOString()
      const log = toSarifLog(added, {
        // Code scanning replaces the alerts of the previous run with the same id.
        automationDetails: { id: 'skillstead-scan/' },
        originalUriBaseIds: { [root]: { uri: `${pathToFileURL(resolve('.'))}/` } },
        results,
        invocations: [{ executionSuccessful, endTimeUtc, toolExecutionNotifications: notifications }],
        properties: { skills },
      })
      if (handle === undefined) return print(JSON.stringify(log))
      writeSync(handle, `${JSON.stringify(log)}\n`)
      closeSync(handle)
    },
  }
}

const root = '%SRCROOT%'

function openFile(file: string): number {
  try {
    return openSync(file, 'w')
  } catch (cause) {
    throw new Error(`The SARIF file ${file} cannot be written.`, { cause })
  }
}

/** The file in which code scanning shows a finding. */
function toArtifact(file: string) {
  if (isSampleUrl(file)) return { uri: file }
  if (file === '..' || file.startsWith('../')) return { uri: String(pathToFileURL(resolve(file))) }
  return { uri: toUri(file), uriBaseId: root }
}
