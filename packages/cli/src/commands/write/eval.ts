import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { cutList, toOneLine } from '@skillstead/protocol'
import { parseSkillMd, readSkillFields } from '@skillstead/skill-format'
import { toDigest, toVersionDigest } from '@skillstead/skill-format/archives'
import { readEvalCases, toProblemText, type EvalCase } from '@skillstead/skill-format/evals'
import { UsageError, command, flag, textOption, type Arguments } from '../../command/command.ts'
import { wholeNumberOption } from '../../command/values.ts'
import { openJournal, toRunId, type Journal } from '../../eval/journal.ts'
import { findPostedVersion, postResult, preparePost } from '../../eval/post-result.ts'
import { toJunit, toMarkdown, toReportLines, type EvalReport } from '../../eval/eval-reports.ts'
import { runCases, type RunSettings } from '../../eval/run-cases.ts'
import { removedVariables, type EvaluatedSkill } from '../../eval/run-folder.ts'
import { splitCommand } from '../../eval/split-command.ts'
import { isDecided, summarize } from '../../eval/summary.ts'
import { readSkillFolder } from '../../files/read-skill-folder.ts'
import { writeWhole } from '../../files/write-whole.ts'
import { listAgentFolders } from '../../install/agents.ts'
import { placeOptions } from '../../registry/place.ts'
import { startBar } from '../../terminal/progress-bar.ts'
import { toCount, type Output } from '../../terminal/output.ts'
import { readProgramVersion } from '../../version.ts'

const problemsShownMax = 20

export const commands = {
  eval: command({
    description:
      'Run the test cases of a skill with and without it, by the command of an agent, and compare. Cases are in evals/evals.json or ' +
      'evals/CASE. The same command continues after an interruption. Exit code 1 when agents do worse with the skill, or no run counts.',
    words: ['FOLDER'],
    options: {
      agent: {
        value: 'COMMAND',
        help: "the command of the agent, such as 'claude -p'; it gets the prompt on standard input, or as {prompt}",
      },
      judge: {
        value: 'COMMAND',
        help: 'the command of a model that judges expectations in words. Default: not judged',
      },
      'allow-scripts': { help: 'run the scripts of the cases, which are programs of the skill' },
      model: { value: 'NAME', help: 'the model of the agent, for the report' },
      runs: { value: 'N', help: 'runs of each case, with and without the skill. Default: 5' },
      parallel: { value: 'N', help: 'runs at the same time. Default: 4' },
      timeout: { value: 'S', help: 'time limit of a run in seconds, where the case has none. Default: 300' },
      out: { value: 'DIR', help: 'the folder for journal and transcripts. Default: FOLDER-workspace' },
      junit: { value: 'FILE', help: 'also write a JUnit report' },
      markdown: { value: 'FILE', help: 'also write a Markdown report' },
      sign: {
        value: 'KEY',
        help: 'sign the posted result with an SSH key, such as ~/.ssh/id_ed25519, or its .pub file',
      },
      post: { value: 'NAME@VERSION', help: 'post the result for this version, which has the content of the folder' },
      ...placeOptions,
    },
    async run(given, output) {
      const [folder] = given.words
      const agent = textOption(given, 'agent')
      if (agent === undefined) throw new UsageError("The agent is missing. Pass --agent COMMAND, such as 'claude -p'.")
      const posted = findPostedVersion(given)
      const skill = await readSkill(folder)
      const cases = readCases(skill)
      const posting = posted && (await preparePost(given, posted, skill.digest))
      const settings = { ...readSettings(given, agent), signal: listenForEnd(given) }
      warnOfInstalled(given, skill, output)
      const out = findOut(given, skill)
      const { env: _env, signal: _signal, parallel: _parallel, ...binding } = settings
      const model = textOption(given, 'model')
      const journal = openJournal(out, { form: 1, digest: skill.digest, model, ...binding })
      try {
        await runAll({ skill, cases, settings, journal, output })
        const report = toReport(given, { skill, cases, settings, journal })
        const list = writeReports(given, report)
        if (posting) {
          await postResult(posting, posted, report, list)
          output.say(`Posted the result for ${posted.name}@${posted.version}.`)
        }
        return report
      } finally {
        journal.close()
      }
    },
    show: toReportLines,
    hasFailed: ({ verdict, effect }) => verdict === 'worse' || effect === undefined,
  }),
}

async function readSkill(folder: string): Promise<EvaluatedSkill> {
  if (!existsSync(folder)) throw new Error(`${folder} does not exist.`)
  const item = await readSkillFolder(folder, 'Pass the folder of one of them.')
  const { name } = readSkillFields(parseSkillMd(item.skillMd))
  if (name === undefined) throw new Error(`${item.id}: SKILL.md has no valid name. Run: skillstead lint ${folder}`)
  const files = [{ path: 'SKILL.md', bytes: Buffer.from(item.skillMd) }, ...item.files]
  return { name, digest: toVersionDigest(files), folder: resolve(dirname(item.id)), files }
}

/** The cases of a skill. Throws for a faulty case: a result without that case would not be what its author meant. */
function readCases({ files, folder }: EvaluatedSkill): EvalCase[] {
  const { cases, problems } = readEvalCases(files)
  if (problems.length > 0) {
    const { shown, more } = cutList(problems, problemsShownMax)
    const lines = [...shown.map(toProblemText), ...(more > 0 ? [`and ${more} more`] : [])]
    throw new Error(['The cases have faults:', ...lines].join('\n  '))
  }
  if (cases.length === 0)
    throw new Error(
      `${folder} has no cases. Write evals/evals.json, or a folder evals/CASE with prompt.md and graders.`,
    )
  return cases
}

function readSettings(given: Arguments, agent: string): Omit<RunSettings, 'signal'> {
  const judge = textOption(given, 'judge')
  return {
    agent: splitCommand(agent, 'agent'),
    ...(judge !== undefined && { judge: splitCommand(judge, 'judge') }),
    allowScripts: flag(given, 'allow-scripts'),
    runs: wholeNumberOption(given, 'runs', 'number of runs', [1, 1000]) ?? 5,
    parallel: wholeNumberOption(given, 'parallel', 'number of parallel runs', [1, 64]) ?? 4,
    timeoutMs: 1000 * (wholeNumberOption(given, 'timeout', 'time limit in seconds', [1, 3600]) ?? 300),
    env: given.io.env,
  }
}

/**
 * The folder of journals. Throws {@link UsageError} for a folder in the skill, which would change the digest of the
 * skill.
 */
function findOut(given: Arguments, { folder }: EvaluatedSkill): string {
  const out = resolve(textOption(given, 'out') ?? join(dirname(folder), `${basename(folder)}-workspace`))
  if (`${out}${sep}`.startsWith(`${folder}${sep}`))
    throw new UsageError('--out is in the folder of the skill, and would be published. Pass a folder outside of it.')
  return out
}

/** A signal that is aborted by Ctrl+C, by SIGTERM, and when the terminal is closed. */
function listenForEnd({ io }: Arguments): AbortSignal {
  const hangUp = new AbortController()
  io.onHangUp?.(() => hangUp.abort())
  return AbortSignal.any([io.interruption(), hangUp.signal])
}

/**
 * Warns if the skill is installed for the user's account: agents read skills there, so a run without the skill would
 * have it.
 */
function warnOfInstalled({ io }: Arguments, { name }: EvaluatedSkill, output: Output): void {
  const found = listAgentFolders(true, io.env).find((folder) => existsSync(join(folder, name)))
  if (found === undefined) return
  output.warn(`Warning: ${join(found, name)} is installed for your account, so runs without the skill may have it.`)
}

interface Evaluation {
  readonly skill: EvaluatedSkill
  readonly cases: readonly EvalCase[]
  readonly settings: RunSettings
  readonly journal: Journal
}

async function runAll({ skill, cases, settings, journal, output }: Evaluation & { output: Output }): Promise<void> {
  const decided = cases.filter((one) => isDecided(one, settings))
  const total = decided.length * settings.runs * 2
  const before = journal.done.size
  const kept = before > 0 ? `; ${before} are finished already` : ''
  output.say(`${toCount(decided.length, 'case')}, ${toCount(total, 'run')} of the agent${kept}.`)
  const format = '{bar} {value}/{total} runs | with {with}, without {without} passed | {eta_formatted} left'
  const toParts = () => {
    const passed = [...journal.done.values()].filter(({ outcome }) => outcome === 'passed')
    const withSkill = passed.filter(({ arm }) => arm === 'with').length
    return { with: withSkill, without: passed.length - withSkill }
  }
  const toLine = (value: number) => `${value} of ${toCount(total, 'run')}`
  const bar = startBar(output, { format, total, parts: toParts(), toLine })
  bar.update(before, toParts())
  try {
    const onDone = () => bar.update(journal.done.size, toParts())
    await runCases(skill, decided, settings, { journal, onDone })
  } finally {
    bar.stop()
  }
  if (settings.signal.aborted)
    throw new Error(`Interrupted after ${journal.done.size} of ${total} runs. Run the same command again to continue.`)
}

function toReport(given: Arguments, { skill, cases, settings, journal }: Evaluation): EvalReport {
  const order = new Map(cases.map(({ id }, index) => [id, index]))
  const runs = [...journal.done.values()].toSorted(
    (a, b) => order.get(a.case)! - order.get(b.case)! || a.number - b.number || (a.arm === 'with' ? -1 : 1),
  )
  const [judge, model] = [textOption(given, 'judge'), textOption(given, 'model')]
  return {
    skill: { name: skill.name, digest: skill.digest },
    runner: `skillstead eval ${readProgramVersion()}`,
    agent: textOption(given, 'agent')!,
    ...(judge !== undefined && { judge }),
    ...(model !== undefined && { model }),
    ranAt: new Date(runs.reduce((latest, { at }) => Math.max(latest, at), 0)).toISOString(),
    runsPerCase: settings.runs,
    timeoutSeconds: settings.timeoutMs / 1000,
    environment: {
      system: `${process.platform} ${process.arch}`,
      node: process.versions.node,
      removedVariables: removedVariables.source,
    },
    ...summarize(cases, runs, settings),
    runs,
    folder: journal.folder,
  }
}

/** Writes the reports and a list of all transcript digests, as `sha256sum` does. Returns the digest of the list. */
function writeReports(given: Arguments, report: EvalReport): string {
  const list = report.runs
    .map((run) => `${run.transcript.slice('sha256:'.length)}  ${toOneLine(toRunId(run))}\n`)
    .join('')
  writeWhole(join(report.folder, 'transcripts.sha256'), list, 0o600)
  writeWhole(join(report.folder, 'report.json'), `${JSON.stringify(report, undefined, 2)}\n`, 0o600)
  const [junit, markdown] = [textOption(given, 'junit'), textOption(given, 'markdown')]
  if (junit !== undefined) writeWhole(junit, toJunit(report))
  if (markdown !== undefined) writeWhole(markdown, toMarkdown(report))
  return toDigest(list)
}
