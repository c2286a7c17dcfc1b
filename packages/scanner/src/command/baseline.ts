import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { firstIssueOnly, parseForeignJson, type ScanFinding, type Security } from '@skillstead/protocol'
import * as v from 'valibot'
import { toRisk, toScore, toVerdict } from '../verdict/score.ts'
import { locateInSample, type Sample } from '../report/sample.ts'

const Reason = v.pipe(v.string(), v.trim(), v.minLength(1))

/** A known finding of a baseline file. A scan ignores other fields of it. */
const Known = v.object({ rule: v.string(), file: v.string(), passage: v.string(), reason: Reason })
type Known = v.InferOutput<typeof Known>

const File = v.object({ version: v.literal(1), findings: v.array(Known) })

/** Reads known findings, which reports leave out. Throws an error that names the file and what is wrong with it. */
export function readBaseline(file: string) {
  const known = new Map(parseBaseline(file).map((one) => [toBaselineKey(one.rule, one.file, one.passage), one]))
  const unused = new Set(known.values())
  return {
    /** The report without known findings, and their number. A skill that was not scanned completely keeps its verdict. */
    apply(sample: Sample, report: Security): { readonly report: Security; readonly known: number } {
      const findings = report.findings.filter((finding) => {
        const { rule, file: name, passage } = toBaselineId(sample, report, finding)
        const found = known.get(toBaselineKey(rule, name, passage))
        if (found) unused.delete(found)
        return !found
      })
      const count = report.findings.length - findings.length
      if (count === 0 || report.cut.length > 0) return { report: { ...report, findings }, known: count }
      const judged = { score: toScore(findings), verdict: toVerdict(findings), risk: toRisk(findings) }
      return { report: { ...report, ...judged, findings }, known: count }
    },
    /** The known findings that no report had. */
    listUnused: () => [...unused],
  }
}

function parseBaseline(file: string): readonly Known[] {
  let value: unknown
  try {
    value = parseForeignJson(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new Error(`The baseline ${file} cannot be read, or is not JSON.`, { cause })
  }
  const parsed = v.safeParse(File, value, firstIssueOnly)
  if (parsed.success) return parsed.output.findings
  const field = v.getDotPath(parsed.issues[0]) ?? 'file'
  throw new Error(
    `The baseline ${file} is invalid: its \`${field}\` is missing or wrong. Every finding needs a reason.`,
  )
}

/** Creates a baseline that gives one reason for all findings. Leaves out findings with the signal `none`. */
export function createBaselineWriter(file: string, reason: string) {
  const listed = new Map<string, Known & Pick<ScanFinding, 'line' | 'title'>>()
  return {
    add(sample: Sample, report: Security): void {
      for (const finding of report.findings.filter(({ signal }) => signal !== 'none')) {
        const { rule, file: name, passage } = toBaselineId(sample, report, finding)
        const { line, title } = finding
        listed.set(toBaselineKey(rule, name, passage), { rule, file: name, line, title, passage, reason })
      }
    },
    write: () => writeFileSync(file, `${JSON.stringify({ version: 1, findings: [...listed.values()] }, null, 2)}\n`),
  }
}

const toBaselineKey = (...parts: readonly string[]) => JSON.stringify(parts)

/** Identifies a finding by its rule, its file and the text of its line, so that the line may move within the file. */
function toBaselineId(sample: Sample, report: Security, finding: ScanFinding) {
  const { ruleId, path, excerpt } = finding
  const { file: outer, inside } = locateInSample(sample, path)
  const file = inside === undefined ? outer : `${outer}!/${inside}`
  const text =
    ruleId === 'incomplete-scan'
      ? JSON.stringify(report.cut.filter((cut) => cut.path === finding.path))
      : readPassage(sample, finding)
  const passage = createHash('sha256').update(toBaselineKey(excerpt, text)).digest('hex').slice(0, 32)
  return { rule: ruleId, file, passage }
}

/** The whole line of a finding: its excerpt may be shorter. For a file in an archive, the digest of the archive. */
function readPassage({ files }: Sample, { path, line }: ScanFinding): string {
  const inner = path.indexOf('!/')
  const name = inner === -1 ? path : path.slice(0, inner)
  const file = files.find((one) => one.path === name)
  if (!file || 'unread' in file) return ''
  const bytes = 'bytes' in file ? file.bytes : Buffer.from(file.text)
  if (inner !== -1) return createHash('sha256').update(bytes).digest('hex')
  const lines = new TextDecoder().decode(bytes).split(/\r\n?|\n/)
  return lines[line - 1]?.trim() ?? ''
}
