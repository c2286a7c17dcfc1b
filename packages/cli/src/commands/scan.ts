import { toManifest, type Security } from '@skillstead/protocol'
import { scanPackage } from '@skillstead/scanner'
import { toSarif } from '@skillstead/scanner/rules'
import { isUnreadable, toDigest } from '@skillstead/skill-format/archives'
import { choice, command, text } from '../command/command.ts'
import { outgoingOptions, toOutgoing } from '../registry/outgoing-options.ts'
import { openSamples, type Sample } from '../scan/samples.ts'
import { toScanLines } from '../scan/scan-lines.ts'
import { toOneLine, type Output } from '../terminal/output.ts'

const formats = ['text', 'json', 'sarif'] as const
type Format = (typeof formats)[number]
const failingVerdicts = ['caution', 'dangerous'] as const

export const commands = {
  scan: command({
    description: 'Scan skills for dangerous content. Needs no registry, and no network for local files.',
    words: ['PATH|URL|-'],
    options: {
      format: { value: 'FORMAT', help: 'text, json (a line for each skill) or sarif' },
      'fail-on': { value: 'VERDICT', help: 'exit with 1 for this verdict or a worse one: caution or dangerous' },
      ...outgoingOptions,
    },
    async run(given, output) {
      const [place] = given.words
      const format = output.json ? 'json' : (choice(text(given, 'format'), formats, 'format') ?? 'text')
      const failOn = choice(text(given, 'fail-on'), failingVerdicts, 'verdict')
      const printer = printers[format]
      const totals = { samples: 0, unreadable: 0, failing: 0 }
      printer.begin?.(output)
      for await (const sample of openSamples(place, await toOutgoing(given), given.io)) {
        if (isUnreadable(sample)) {
          totals.unreadable += 1
          reportUnreadable(sample.id, sample.reason, output)
          continue
        }
        const report = await scanPackage(sample.files, Date.now())
        printer.print(output, sample, report, totals.samples)
        totals.samples += 1
        if (isFailing(report.verdict, failOn)) totals.failing += 1
      }
      printer.end?.(output)
      if (totals.samples + totals.unreadable === 0) throw new Error(`${place} contains no skills.`)
      return totals
    },
    // Each skill is printed as soon as it is scanned: there may be very many.
    printsItself: true,
    hasFailed: ({ failing, unreadable }) => failing > 0 || unreadable > 0,
  }),
}

interface Printer {
  begin?(output: Output): void
  print(output: Output, sample: Sample, report: Security, index: number): void
  end?(output: Output): void
}

const printers: Record<Format, Printer> = {
  text: { print: (output, { id }, report) => toScanLines(id, report).forEach((line) => output.print(line)) },
  json: {
    print(output, { id }, { score, verdict, risk, findings, cut, rulesVersion }) {
      output.print(JSON.stringify({ id, score, verdict, risk, findings, cut, rulesVersion }))
    },
  },
  sarif: {
    begin: (output) =>
      output.print('{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":['),
    print: (output, sample, report, index) =>
      output.print(`${index > 0 ? ',' : ''}${JSON.stringify(toRun(sample, report))}`),
    end: (output) => output.print(']}'),
  },
}

function toRun({ id, files }: Sample, report: Security) {
  const listed = files.map(({ path, bytes }) => ({ path, size: bytes.length, digest: toDigest(bytes) }))
  return toSarif({ ...report, digest: toDigest(toManifest(listed)), source: id }).runs[0]
}

function isFailing(verdict: Security['verdict'], failOn: (typeof failingVerdicts)[number] | undefined): boolean {
  return failOn !== undefined && (verdict === 'dangerous' || verdict === failOn)
}

function reportUnreadable(id: string, reason: string, { json, warn }: Output): void {
  warn(json ? JSON.stringify({ id, error: { code: 'unreadable', detail: reason } }) : `${toOneLine(id)}: ${reason}`)
}
