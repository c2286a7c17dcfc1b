import { mkdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { toOneLine } from '@skillstead/protocol'
import { toDigest } from '@skillstead/skill-format/archives'
import type { EvalCase } from '@skillstead/skill-format/evals'
import { readAgentOutput, type AgentAnswer } from './agent-output.ts'
import {
  describeEnd,
  judgeRun,
  needsFiles,
  prepareFolder,
  requireJudge,
  toCommand,
  type CheckResult,
  type JudgeSettings,
} from './judge-run.ts'
import { isBroken, toRunId, type Journal, type RunRecord } from './journal.ts'
import { runChild, type ChildEnd } from './run-child.ts'
import { listRunFiles, makeRunFolder, toAgentEnvironment, type EvaluatedSkill } from './run-folder.ts'

/** How cases are run. */
export interface RunSettings extends JudgeSettings {
  readonly agent: readonly [string, ...string[]]
  readonly runs: number
  readonly parallel: number
}

type Run = Pick<RunRecord, 'arm' | 'number'> & { readonly one: EvalCase; readonly file: string }

/** The number of broken runs in a row after which no run is started any more, because each run costs money. */
const brokenMax = 5

/** The maximum output of an agent in bytes: more than an agent needs. */
const outputBytesMax = 8 * 1024 * 1024

/**
 * Runs the cases with and without the skill, each repetition in a folder of its own, and writes each finished run to the
 * journal. Runs that the journal has are not repeated. Ends after `settings.signal` is aborted, and throws `StartError` for
 * an agent or a judge that cannot be started, and an error after 5 broken runs in a row.
 */
export async function runCases(
  skill: EvaluatedSkill,
  cases: readonly EvalCase[],
  settings: RunSettings,
  { journal, onDone }: { journal: Journal; onDone: () => void },
): Promise<void> {
  const failed = new AbortController()
  const signal = AbortSignal.any([settings.signal, failed.signal])
  const left = listRuns(cases, settings.runs).filter(
    ({ one, ...run }) => !journal.done.has(toRunId({ ...run, case: one.id })),
  )
  const queue = left.values()
  if (left.some(({ one }) => one.checks.some(({ kind }) => kind === 'text')))
    await requireJudge(settings, journal.makeFolder())
  const transcripts = join(journal.folder, 'transcripts')
  mkdirSync(transcripts, { recursive: true, mode: 0o700 })
  let brokenInRow = 0
  const work = async () => {
    for (const run of queue) {
      if (signal.aborted) return
      const record = await executeRun(run, skill, { ...settings, signal }, { journal, transcripts })
      // A run that an interruption stopped is not finished.
      if (signal.aborted || !record) return
      journal.add(record)
      onDone()
      brokenInRow = isBroken(record) ? brokenInRow + 1 : 0
      if (brokenInRow >= brokenMax)
        throw new Error(
          `Stopped after ${brokenMax} failed runs in a row. The last: ${toOneLine(record.checks[0]!.evidence).slice(0, 200)}. Check the command of the agent and its login. Then run the same command again: it repeats the failed runs and continues.`,
        )
    }
  }
  const guarded = () =>
    work().catch((error: unknown) => {
      failed.abort()
      throw error
    })
  const ends = await Promise.allSettled(Array.from({ length: settings.parallel }, guarded))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** All runs, in turns through the cases, so that an evaluation that is stopped has some runs of each case. */
function listRuns(cases: readonly EvalCase[], runs: number): Run[] {
  return Array.from({ length: runs }, (_, i) => i + 1).flatMap((number) =>
    cases.flatMap((one, index) =>
      (['with', 'without'] as const).map((arm) => ({ one, arm, number, file: `${index + 1}-${arm}-${number}.json` })),
    ),
  )
}

/** Carries out one run. Undefined if the run was interrupted. */
async function executeRun(
  { one, arm, number, file }: Run,
  skill: EvaluatedSkill,
  settings: RunSettings,
  { journal, transcripts }: { journal: Journal; transcripts: string },
): Promise<RunRecord | undefined> {
  const root = journal.makeFolder()
  const folder = makeRunFolder(root, one, skill, arm === 'with')
  try {
    const problem = await prepareFolder(one, { skill, folder }, settings)
    const before = new Set(one.checks.some(needsFiles) ? listRunFiles(folder) : [])
    const prompt = toPrompt(one)
    const timeoutMs = one.timeoutSeconds === undefined ? settings.timeoutMs : one.timeoutSeconds * 1000
    const env = toAgentEnvironment(settings.env, one, folder)
    const common = { cwd: folder, env, timeoutMs, outputBytesMax, signal: settings.signal }
    const end = problem === undefined ? await runChild({ ...common, ...toCommand(settings.agent, prompt) }) : undefined
    if (settings.signal.aborted) return undefined
    const answer = readAgentOutput(end?.stdout ?? '')
    const isWhole = end?.ending === 'exit' && end.code === 0 && !answer.hasFailed
    const run = { one, skill, folder, before, message: answer.message, makeFolder: () => journal.makeFolder() }
    const checks = isWhole
      ? await judgeRun(run, settings)
      : [toEndResult(problem ?? describeFailedEnd(end!, answer), problem === undefined ? 'failed' : 'unjudged')]
    const transcript = JSON.stringify({ case: one.id, arm, number, prompt, ...end })
    writeFileSync(join(transcripts, file), transcript, { mode: 0o600 })
    return {
      case: one.id,
      arm,
      number,
      ending: end === undefined ? 'scaffold' : end.ending === 'exit' && answer.hasFailed ? 'error' : end.ending,
      code: end?.code ?? 0,
      outcome: toOutcome(checks),
      checks,
      seconds: end?.seconds ?? 0,
      ...(answer.tokens !== undefined && { tokens: answer.tokens }),
      transcript: toDigest(transcript),
      at: Date.now(),
    }
  } finally {
    // The next run need not wait for this removal. What cannot be removed now is removed when the journal is closed.
    void rm(root, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
  }
}

/** The prompt as the evaluation guide gives it to an agent: with the names of the input files. */
function toPrompt({ prompt, files }: EvalCase): string {
  return files.length === 0 ? prompt : `${prompt}\n\nInput files: ${files.map(({ to }) => to).join(', ')}`
}

function describeFailedEnd(end: ChildEnd, { hasFailed }: AgentAnswer): string {
  if (!hasFailed || end.ending !== 'exit' || end.code !== 0) return describeEnd(end)
  return `its JSON has no result, or reports an error: ${(end.stderr.trim() || end.stdout.trim()).slice(-300)}`
}

function toEndResult(evidence: string, outcome: CheckResult['outcome']): CheckResult {
  return { name: 'the agent ends', outcome, evidence }
}

/**
 * The outcome of a run: failed if a check failed; else not judged if a check was not judged or there is none; else
 * passed.
 */
function toOutcome(checks: readonly CheckResult[]): CheckResult['outcome'] {
  const outcomes = new Set(checks.map(({ outcome }) => outcome))
  return outcomes.has('failed') ? 'failed' : outcomes.has('unjudged') || outcomes.size === 0 ? 'unjudged' : 'passed'
}
