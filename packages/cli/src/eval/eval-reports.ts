import { type DifferenceInterval, cutList, toOneLine, toPercent, toPoints } from '@skillstead/protocol'
import { styled, type Line } from '../terminal/style.ts'
import { toCount } from '../terminal/output.ts'
import { isBroken, type RunRecord } from './journal.ts'
import { isCompared, type ArmSummary, type ArmTotals, type EvalSummary } from './summary.ts'

/** A finished evaluation with its conditions. */
export interface EvalReport extends EvalSummary {
  readonly skill: { readonly name: string; readonly digest: string }
  /** This program with its version. */
  readonly runner: string
  readonly agent: string
  readonly judge?: string
  readonly model?: string
  /** When the last run ended. */
  readonly ranAt: string
  readonly runsPerCase: number
  readonly timeoutSeconds: number
  /** The conditions of the runs: the system, and which environment variables of the caller are withheld from agents. */
  readonly environment: { readonly system: string; readonly node: string; readonly removedVariables: string }
  readonly runs: readonly RunRecord[]
  /** The folder with the journal and the transcripts. */
  readonly folder: string
}

const verdicts = {
  better: ['good', 'Agents do better with the skill.'],
  worse: ['bad', 'Agents do worse with the skill.'],
  none: ['warning', 'No difference is shown.'],
} as const

/** The result as lines for people. */
export function toReportLines(report: EvalReport): Line[] {
  const { skill, cases, withSkill, withoutSkill, effect, verdict } = report
  const width = Math.min(40, Math.max(4, ...cases.map(({ id }) => id.length)))
  const [style] = verdicts[verdict]
  return [
    styled(
      'heading',
      `${toOneLine(skill.name)}: ${toCount(cases.length, 'case')}, ${toCount(report.runsPerCase, 'run')} each`,
    ),
    ...cases.map(
      (one) => `  ${toOneLine(one.id).padEnd(width)}  with ${toFraction(one.with)}, without ${toFraction(one.without)}`,
    ),
    `  with the skill:    ${toRate(withSkill)}`,
    `  without the skill: ${toRate(withoutSkill)}`,
    ...(effect ? [`  difference:        ${toDifference(effect)}`] : []),
    styled(style, toSentence(report)),
    ...toNotes(report).map((note) => styled('warning', note)),
    `Journal and transcripts: ${report.folder}`,
  ]
}

function toSentence({ effect, verdict, isSpoilt }: EvalReport): string {
  if (effect) return verdicts[verdict][1]
  return isSpoilt
    ? 'There is no verdict: more than 5 % of the runs could not be judged.'
    : 'No run could be counted on both sides.'
}

/** Notes on what the figures do not show. */
function toNotes({ withSkill, withoutSkill, cases, skipped, runs }: EvalReport): string[] {
  const broken = withSkill.broken + withoutSkill.broken
  const first = runs.find((run) => run.outcome === 'failed' && isBroken(run))
  const unjudged = withSkill.unjudged + withoutSkill.unjudged
  const open = runs.flatMap(({ checks }) => checks).find(({ outcome }) => outcome === 'unjudged')
  const undecided = [...cases, ...skipped].flatMap((one) => one.undecided.map((check) => ({ id: one.id, ...check })))
  const { shown, more } = cutList(undecided, 20)
  return [
    ...(broken > 0
      ? [
          `${toCount(broken, 'run')} of the agent failed, and count as not passed. The first: ${first?.checks[0]?.evidence}`,
        ]
      : []),
    ...(unjudged > 0
      ? [`${toCount(unjudged, 'run')} could not be judged, and are not counted. The first: ${open?.evidence}`]
      : []),
    ...cases
      .filter((one) => !isCompared(one))
      .map(({ id }) => `The case ${id} has no counted run on one side, and is not in the totals.`),
    ...skipped.map(({ id }) => `The case ${id} was not run: nothing decides its checks.`),
    ...shown.map(({ id, check, reason }) => `Not judged: ${id}, ${check}: ${reason}`),
    ...(more > 0 ? [`${more} more checks are not judged.`] : []),
  ].map(toOneLine)
}

function toFraction({ passed, runs }: ArmSummary): string {
  return `${passed}/${runs}`
}

function toRate({ interval, tokens, seconds, runs, ...arm }: ArmTotals): string {
  if (!interval) return 'no counted run'
  const mean = [
    `${(seconds / runs).toFixed(1)} s`,
    ...(tokens === undefined ? [] : [`${Math.round(tokens / runs)} tokens`]),
  ]
  const { rate, low, high } = interval
  const share = `${toPercent(rate)} (95 % interval ${toPercent(low)} to ${toPercent(high)})`
  return `${toFraction({ ...arm, runs })} passed, ${share}; ${mean.join(', ')} a run`
}

function toDifference({ value, low, high }: DifferenceInterval): string {
  return `${toPoints(value)} percentage points (95 % interval ${toPoints(low)} to ${toPoints(high)})`
}

function row(...cells: string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** The result as Markdown. */
export function toMarkdown(report: EvalReport): string {
  const { skill, cases, withSkill, withoutSkill, effect, agent, judge, model, runner, ranAt } = report
  const notes = toNotes(report)
  return [
    `# Evaluation of ${toCode(skill.name)}`,
    '',
    toSentence(report),
    '',
    row('', 'result'),
    '|---|---|',
    row('with the skill', toRate(withSkill)),
    row('without the skill', toRate(withoutSkill)),
    ...(effect ? [row('difference', toDifference(effect))] : []),
    '',
    row('case', 'with', 'without'),
    '|---|---|---|',
    ...cases.map((one) => row(toCode(one.id), toFraction(one.with), toFraction(one.without))),
    '',
    ...notes.map((note) => `- ${toCode(note)}`),
    ...(notes.length > 0 ? [''] : []),
    row('condition', 'value'),
    '|---|---|',
    ...Object.entries({ digest: skill.digest, agent, model, judge, runner, time: ranAt }).flatMap(([name, value]) =>
      value === undefined ? [] : [row(name, toCode(value))],
    ),
    row('system', `${report.environment.system}, Node ${report.environment.node}`),
    '',
  ].join('\n')
}

/**
 * Untrusted text as code of Markdown, in which no markup, address or @name has an effect. Each `|` becomes another
 * character, because it would end a cell of a table.
 */
function toCode(text: string): string {
  const line = toOneLine(text).replaceAll('|', '¦')
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((marks) => marks.length))
  const mark = '`'.repeat(longest + 1)
  return `${mark} ${line} ${mark}`
}

/**
 * The runs with the skill as JUnit XML, one test case each; runs that are not counted are skipped. Runs without the skill
 * are only in the totals, because they are expected to fail.
 */
export function toJunit(report: EvalReport): string {
  const runs = report.runs.filter(({ arm }) => arm === 'with')
  const { withSkill, withoutSkill, effect, verdict, skill, skipped } = report
  const properties = {
    digest: skill.digest,
    agent: report.agent,
    with: toRate(withSkill),
    without: toRate(withoutSkill),
    ...(effect && { difference: toDifference(effect), verdict }),
  }
  const failures = runs.filter(({ outcome }) => outcome === 'failed').length
  const counts = {
    tests: runs.length + skipped.length,
    failures,
    skipped: withSkill.unjudged + skipped.length,
    time: withSkill.seconds,
  }
  const suite = { name: `skillstead eval ${skill.name}`, ...counts, timestamp: report.ranAt }
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${toAttributes(counts)}>`,
    `<testsuite${toAttributes(suite)}>`,
    '<properties>',
    ...Object.entries(properties).map(([name, value]) => `<property${toAttributes({ name, value })}/>`),
    '</properties>',
    ...runs.map((run) => toTestCase(skill.name, run)),
    ...skipped.map(
      ({ id }) =>
        `<testcase${toAttributes({ classname: skill.name, name: id })}><skipped message="Nothing decides its checks."/></testcase>`,
    ),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function toTestCase(classname: string, { case: id, number, seconds, outcome, checks }: RunRecord): string {
  const open = `<testcase${toAttributes({ classname, name: `${id} (run ${number})`, time: seconds.toFixed(3) })}`
  if (outcome === 'passed') return `${open}/>`
  const found = checks.filter((check) => check.outcome === outcome)
  const message = found.map(({ name }) => name).join('; ')
  const text = toXml(found.map(({ name, evidence }) => `${name}: ${evidence}`).join('\n'))
  const tag = outcome === 'failed' ? 'failure' : 'skipped'
  return `${open}><${tag}${toAttributes({ message })}>${text}</${tag}></testcase>`
}

function toAttributes(attributes: Readonly<Record<string, string | number>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${toXml(String(value)).replaceAll(/[\n\t]/g, ' ')}"`)
    .join('')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text for XML 1.0, which cannot hold control characters and lone surrogates, not even escaped. */
function toXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\u{20}-\u{7e}\u{a0}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll(/[&<>"]/g, (mark) => entities[mark]!)
}
