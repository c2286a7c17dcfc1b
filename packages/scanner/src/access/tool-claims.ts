import { findCode } from '../code/parts.ts'
import type { EngineRuleId } from '../rules/engine-rules.ts'
import type { Subject } from '../report/scan-findings.ts'
import { readFrontmatterHead } from './frontmatter.ts'

/** Matches agent tools that start no program. */
const tamePattern =
  /^(?:read|write|edit|multiedit|glob|grep|ls|webfetch|websearch|todo(?:read|write)|notebook(?:read|edit)|askuserquestion)(?:\(.{0,200}\))?$/i
/** A tool that runs any command: `Bash`, `Bash(*)`. */
const anyCommandPattern = /^(?:(?:bash|shell|terminal|execute)(?:\(:?\*?\))?|\*)$/i
/** Words of a text that has commands to run. */
const commandWords =
  /\b(?:run|ran|execut|command|script|shell|bash|terminal|cli|install|build|test|git|npm|curl|python|docker)/i
/** Maximum number of characters of a text that are searched for `commandWords`. */
const searchedMax = 64 * 1024

/**
 * Compares `allowed-tools` of a SKILL.md with its text: a request for any command in a skill that runs none, and
 * commands in a skill whose tools cannot run them.
 */
export function* findToolClaims(files: readonly Subject[]) {
  const skill = files.find(({ path }) => path === 'SKILL.md')
  // Parsing the frontmatter takes longer than everything else here, so all else is examined first.
  if (!skill?.document.text.includes('\nallowed')) return
  const shell = [...findCode(skill.path, skill.document)].find(({ language }) => language === 'shell')
  const mayRunAny = files.some(mayRun)
  if (!shell && mayRunAny) return
  const { tools } = readFrontmatterHead(skill.document.text, /^allowed[-_]tools:/m)
  if (tools.length === 0) return
  if (shell && tools.every((tool) => tamePattern.test(tool)))
    yield { file: skill, rule: 'tools-undeclared' satisfies EngineRuleId, offset: shell.offset } as const
  if (tools.some((tool) => anyCommandPattern.test(tool)) && !mayRunAny)
    yield { file: skill, rule: 'tools-unused' satisfies EngineRuleId, offset: 0 } as const
}

/** Whether a file is a program, or a text that may have commands. */
function mayRun({ path, role, document }: Subject): boolean {
  if (role === 'script') return true
  const body = document.text.replace(/^---\n[^]*?\n---\n/, '')
  return commandWords.test(body.slice(0, searchedMax)) || !findCode(path, document).next().done
}
