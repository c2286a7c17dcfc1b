import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { EvalReport } from '../../packages/cli/src/eval/eval-reports.ts'
import { makeFolder, skillstead } from './cli-harness.ts'

/** A folder with a skill that has test cases. */
export interface EvalSkill {
  readonly folder: string
  /** An executable file next to the skill; its path. */
  program(name: string, text: string): Promise<string>
  /** Runs `skillstead eval` on the skill, with the options in `args`. */
  evaluate(args: readonly string[], options?: Parameters<typeof skillstead>[1]): ReturnType<typeof skillstead>
  /** Like `evaluate`, and the report of a command that may also have exit code 1. */
  report(args: readonly string[], options?: Parameters<typeof skillstead>[1]): Promise<EvalReport>
}

/** Writes a skill `answers` with these files. `evals` become evals/evals.json. */
export async function makeEvalSkill(evals: readonly object[], files: Record<string, string> = {}): Promise<EvalSkill> {
  const root = await makeFolder()
  const folder = join(root, 'answers')
  const all = {
    'SKILL.md': '---\nname: answers\ndescription: Knows the answer.\n---\n\nThe answer is 42.\n',
    ...(evals.length > 0 && { 'evals/evals.json': JSON.stringify({ skill_name: 'answers', evals }) }),
    ...files,
  }
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text, { mode: path.endsWith('.sh') ? 0o755 : 0o644 })
  }
  const skill: EvalSkill = {
    folder,
    async program(name, text) {
      const file = join(root, name)
      await writeFile(file, text)
      await chmod(file, 0o755)
      return file
    },
    evaluate: (args, options) => skillstead(['eval', folder, ...args], options),
    async report(args, options) {
      const { stdout, stderr } = await skill.evaluate([...args, '--json'], options)
      if (stdout === '') throw new Error(stderr)
      return JSON.parse(stdout) as EvalReport
    },
  }
  return skill
}

/** An agent that finds the answer in the skill; without the skill it says `otherwise`. */
export function findingAgent(otherwise: string): string {
  return `#!/bin/sh
cat > /dev/null
if [ -f .claude/skills/answers/SKILL.md ] && [ -f .agents/skills/answers/SKILL.md ]; then echo 42; else echo '${otherwise}'; fi
`
}

/** A case that passes if the last message is 42. */
export const exactCase = { id: 'asked', prompt: 'What is the answer?', assertions: [{ type: 'exact', value: '42' }] }

/** The lines of a file that agents append to. */
export async function readAppended(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}
