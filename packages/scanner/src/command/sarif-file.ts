import { closeSync, openSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { toManifest, type ScanFinding, type Security } from '@skillstead/protocol'
import { toDigest, type Unreadable } from '@skillstead/skill-format/archives'
import type { AddedRules } from '../rules/added-rules.ts'
import { sarifHeader, toRegion, toSarifResult, toSarifTool, toUri } from '../report/sarif.ts'
import type { ScanFile } from '../files/scan-file.ts'
import { toContainerPath, toFilePath } from './file-names.ts'
import type { Sample } from './sample.ts'
import type { ScanOutput } from './scan-output.ts'

/** A SARIF log that is written while skills are scanned. GitHub accepts one run of a tool, so it has one. */
export interface SarifFile {
  add(sample: Sample, report: Security): void
  addUnreadable(item: Unreadable): void
  end(): void
}

/** Opens a log; `-` is standard output. Throws if the file cannot be written. */
export function openSarifFile(file: string, output: ScanOutput, added?: AddedRules): SarifFile {
  const { write, close } = openText(file, output)
  const skills: object[] = []
  const notifications: object[] = []
  let results = 0
  let hasFailed = false
  const { $schema, version } = sarifHeader
  const run = {
    ...toSarifTool(added),
    // Code scanning replaces the alerts of the previous run with the same id.
    automationDetails: { id: 'skillstead-scan/' },
    originalUriBaseIds: { [root]: { uri: `${pathToFileURL(resolve('.'))}/` } },
  }
  write(`{"$schema":"${$schema}","version":"${version}","runs":[${JSON.stringify(run).slice(0, -1)},"results":[`)
  return {
    add(sample, report) {
      for (const finding of report.findings) {
        const result = toSarifResult(finding, toName(sample, finding.path), toLocation(sample, finding), added)
        write(`${results > 0 ? ',' : ''}${JSON.stringify(result)}`)
        results += 1
      }
      for (const { path, reason } of report.cut) {
        notifications.push({
          level: 'warning',
          message: { text: `${path} was not scanned completely. ${reason}` },
          locations: [{ physicalLocation: { artifactLocation: toArtifact(sample, path) } }],
        })
      }
      const { score, verdict, risk } = report
      skills.push({ source: sample.id, digest: toSkillDigest(sample.files), score, verdict, risk })
    },
    addUnreadable({ id, reason }) {
      hasFailed = true
      notifications.push({ level: 'error', message: { text: `${id} was not scanned. ${reason}` } })
    },
    end() {
      const endTimeUtc = new Date().toISOString()
      const invocation = { executionSuccessful: !hasFailed, endTimeUtc, toolExecutionNotifications: notifications }
      write(`],"invocations":[${JSON.stringify(invocation)}],"properties":${JSON.stringify({ skills })}}]}`)
      close()
    },
  }
}

const root = '%SRCROOT%'

function openText(file: string, output: ScanOutput): { write: (text: string) => void; close: () => void } {
  if (file === '-') return { write: output.printJson, close: () => undefined }
  let handle: number
  try {
    handle = openSync(file, 'w')
  } catch (cause) {
    throw new Error(`The SARIF file ${file} cannot be written.`, { cause })
  }
  return { write: (text) => void writeSync(handle, `${text}\n`), close: () => closeSync(handle) }
}

function toLocation(sample: Sample, finding: ScanFinding) {
  const artifact = toArtifact(sample, finding.path)
  if (toFilePath(sample, finding.path) !== undefined) return toRegion(finding, artifact)
  // The lines of an archive mean nothing: the passage is in one of its files.
  const { line, column, excerpt } = finding
  const physicalLocation = { artifactLocation: artifact, region: { startLine: 1, snippet: { text: excerpt } } }
  const fullyQualifiedName = `${toName(sample, finding.path)}:${line}:${column}`
  return { physicalLocation, logicalLocations: [{ fullyQualifiedName, kind: 'resource' }] }
}

/** The file in which code scanning shows a finding. */
function toArtifact(sample: Sample, path: string) {
  const file = toFilePath(sample, path) ?? toContainerPath(sample, path)
  if (/^https?:\/\//i.test(file)) return { uri: file }
  if (file.startsWith('..')) return { uri: String(pathToFileURL(resolve(file))) }
  return { uri: toUri(file), uriBaseId: root }
}

function toName(sample: Sample, path: string): string {
  return toFilePath(sample, path) ?? `${sample.id}!/${path}`
}

function toSkillDigest(files: readonly ScanFile[]): string {
  const listed = files.flatMap((file) => {
    if ('unread' in file) return []
    const bytes = 'bytes' in file ? file.bytes : Buffer.from(file.text)
    return [{ path: file.path, size: bytes.length, digest: toDigest(bytes) }]
  })
  return toDigest(toManifest(listed))
}
