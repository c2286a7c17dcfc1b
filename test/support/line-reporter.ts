import { relative } from 'node:path'
import { DefaultReporter, type TestModule, type Vitest } from 'vitest/node'
import { isSampled, sampleSize, seed } from './long.ts'

/** Prints the seed of the run and one line per test file, then the failures and the commands that repeat them. */
export default class LineReporter extends DefaultReporter {
  override onInit(vitest: Vitest): void {
    super.onInit(vitest)
    this.log(`Seed ${seed}: with SKILLSTEAD_TEST_SEED=${seed} a run makes the same choices.`)
  }

  protected override printTestCase(): void {}

  protected override printTestSuite(): void {}

  override onTestRunEnd(...[modules, errors, reason]: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(modules, errors, reason)
    const commands = modules.flatMap(listCommands)
    if (commands.length > 0) this.log(['To repeat what failed:', ...commands, ''].join('\n  '))
  }
}

/** A file that fails outside its tests is repeated whole. */
function listCommands(module: TestModule): string[] {
  const file = relative(process.cwd(), module.moduleId)
  const failed = [...module.children.allTests('failed')]
  if (failed.length > 0) return failed.map((test) => toCommand(file, test.fullName))
  return module.state() === 'failed' ? [toCommand(file)] : []
}

/** The command that runs a test file, or the one test of it that has the name. */
export function toCommand(file: string, name?: string): string {
  const script = process.env['npm_lifecycle_event'] ?? 'test'
  const choices = `SKILLSTEAD_TEST_SEED=${seed} ${isSampled ? `SKILLSTEAD_TEST_SAMPLE=${sampleSize} ` : ''}`
  return `${choices}npx --yes pnpm@12 ${script} ${file}${name === undefined ? '' : ` -t "${toPattern(name)}"`}`
}

/** `-t` takes a regular expression, and a shell interprets characters too: any that might be special becomes `.`. */
function toPattern(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N} ,;:'/>_-]/gu, (found) =>
    /\s/.test(found) ? String.raw`\s` : '.'.repeat(found.length),
  )
}
