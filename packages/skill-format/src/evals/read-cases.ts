import { findPlaceFault } from './case-fields.ts'
import { listCaseFolders, readCaseFolder } from './case-folder.ts'
import { caseLimits, type CaseFile, type CaseProblem, type EvalCase } from './eval-case.ts'
import { evalsJson, readEvalsJson, type ReadCase } from './evals-json.ts'
import { CaseError, readCaseText, readJsonDocument } from './located-document.ts'

/**
 * Reads the test cases in the files of a skill, in both forms: `evals/evals.json` of the agentskills evaluation guide
 * (https://agentskills.io/skill-creation/evaluating-skills), and the folders `evals/CASE` of `claude plugin eval`
 * (https://code.claude.com/docs/en/plugin-evals). A faulty case is a problem and no case. So is a case with a path that
 * is no file of the skill.
 *
 * @example
 * const { cases, problems } = readEvalCases(files)
 */
export function readEvalCases(files: readonly CaseFile[]): { cases: EvalCase[]; problems: CaseProblem[] } {
  const problems: CaseProblem[] = []
  const found: (ReadCase & { path: string })[] = []
  const add = (path: string, error: unknown) => {
    if (!(error instanceof CaseError)) throw error
    const { message, line } = error
    problems.push(line === undefined ? { path, message } : { path, line, message })
  }
  const json = files.find(({ path }) => path === evalsJson)
  if (json) {
    try {
      const document = readJsonDocument(readCaseText(json))
      for (const one of readEvalsJson(document, (error) => add(evalsJson, error)))
        found.push({ ...one, path: evalsJson })
    } catch (error) {
      add(evalsJson, error)
    }
  }
  for (const folder of listCaseFolders(files).slice(0, caseLimits.casesMax)) {
    let at = folder.folder
    const within = <T>(path: string, read: () => T): T => {
      at = path
      return read()
    }
    try {
      const one = readCaseFolder(folder, within)
      found.push({ ...one, path: (folder.caseYaml ?? folder.promptMd)!.path })
    } catch (error) {
      add(at, error)
    }
  }
  return { cases: checkAgainstFiles(found, files, problems), problems }
}

/** A problem as a line: `path:line: message`. */
export function toProblemText({ path, line, message }: CaseProblem): string {
  return `${path}${line === undefined ? '' : `:${line}`}: ${message}`
}

/** The cases whose files exist, and whose identifier no earlier case has. */
function checkAgainstFiles(
  found: readonly (ReadCase & { path: string })[],
  files: readonly CaseFile[],
  problems: CaseProblem[],
): EvalCase[] {
  const paths = new Set(files.map(({ path }) => path))
  const ids = new Set<string>()
  return found.flatMap(({ path, lineOf, ...one }) => {
    const scripts = one.checks.flatMap((check) => (check.kind === 'script' ? [check.path] : []))
    const named = [
      ...one.files.map((file) => file.path),
      ...scripts,
      ...(one.scaffold === undefined ? [] : [one.scaffold]),
    ]
    const missing = named.find((name) => !paths.has(name))
    const fault = findPlaceFault(one.files)
    const message =
      missing !== undefined
        ? `The case '${one.id}' names ${missing}, which is no file of the skill. Add the file, or write its path from SKILL.md.`
        : ids.has(one.id)
          ? `The case '${one.id}' occurs twice. Give each case an identifier of its own.`
          : fault && `The case '${one.id}' cannot have its files in the folder of a run. ${fault}`
    ids.add(one.id)
    if (message === undefined) return [one]
    const line = lineOf?.()
    problems.push({ path, ...(line !== undefined && { line }), message })
    return []
  })
}
