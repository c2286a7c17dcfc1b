import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { toErrorText, toJsonLine, toPlainText } from '@skillstead/protocol'
import { runScan } from './run-scan.ts'
import { findRequestProblem, scanOptions, toScanRequest, type ScanOption, type ScanRequest } from './scan-options.ts'
import type { ScanIo } from './scan-output.ts'

const name = 'skillstead-scan'

const options: Readonly<Record<string, ScanOption>> = {
  ...scanOptions,
  json: { help: 'print one line of JSON for each skill' },
  help: { help: 'show this help' },
  version: { help: 'print the version' },
}

/** Runs a command line and returns its exit code: 0, 1 for a failure or a finding of --fail-on, 2 for wrong usage. */
export async function runCommandLine(args: readonly string[], io: ScanIo): Promise<number> {
  const print = (text: string) => void io.stdout.write(`${text}\n`)
  try {
    const request = parseScanArguments(args)
    if (request === 'help') print(toHelp())
    else if (request === 'version') print(readProgramVersion())
    else {
      const { failing, unreadable } = await runScan(request, io)
      return failing + unreadable > 0 ? 1 : 0
    }
    return 0
  } catch (error) {
    const isUsage = error instanceof UsageError
    const detail = toErrorText(error)
    const code = isUsage ? 'usage' : 'failed'
    io.stderr.write(`${args.includes('--json') ? toJsonLine({ error: { code, detail } }) : toPlainText(detail)}\n`)
    return isUsage ? 2 : 1
  }
}

class UsageError extends Error {}

function parseScanArguments(args: readonly string[]): ScanRequest | 'help' | 'version' {
  const { values, positionals } = parseWords(args)
  if (values['help'] === true) return 'help'
  if (values['version'] === true) return 'version'
  for (const [option, { choices }] of Object.entries(options)) {
    const value = values[option]
    if (typeof value === 'string' && choices && !choices.includes(value))
      throw new UsageError(`'${value}' is not a valid value of --${option}. Use one of ${choices.join(', ')}.`)
  }
  const request = toScanRequest(positionals, values['json'] === true, values)
  const problem = findRequestProblem(request)
  if (problem !== undefined) throw new UsageError(`${problem} Run \`${name} --help\` for its usage.`)
  return request
}

function parseWords(args: readonly string[]) {
  const types = Object.fromEntries(Object.entries(options).map(([option, one]) => [option, toOptionType(option, one)]))
  try {
    return parseArgs({ args: [...args], options: types, allowPositionals: true })
  } catch (error) {
    const [sentence = ''] = toErrorText(error).split(/\.(?:\s|$)/)
    throw new UsageError(`${sentence}. Run \`${name} --help\` for its usage.`, { cause: error })
  }
}

function toOptionType(option: string, { value }: ScanOption) {
  return { type: value === undefined ? 'boolean' : 'string', ...(option === 'help' && { short: 'h' }) } as const
}

const helpColumns = 24

function toHelp(): string {
  const lines = Object.entries(options).map(([option, { value, help }]) => {
    return `  ${`--${option}${value === undefined ? '' : ` ${value}`}`.padEnd(helpColumns)} ${help}`
  })
  return `Usage: ${name} [options] PATH...

Scan agent skills for dangerous content, without a registry and without a network. PATH is a folder of skills, a
SKILL.md or another file, an archive (.zip, .skill, .tar.gz), records (.ndjson, .ndjson.gz), or - for standard input.

${lines.join('\n')}

Exit codes: 0 for success, 1 for a verdict of --fail-on or something that could not be read, 2 for wrong usage.`
}

function readProgramVersion(): string {
  // Compiled files are one level below package.json, sources are two levels below it.
  const above = import.meta.url.endsWith('.ts') ? '../../package.json' : '../package.json'
  const { version }: { version: string } = JSON.parse(readFileSync(new URL(above, import.meta.url), 'utf8'))
  return version
}
