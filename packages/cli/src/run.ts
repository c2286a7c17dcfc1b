import { RegistryError, toJsonLine, toOneLine, toErrorText } from '@skillstead/protocol'
import { UsageError, type Arguments, type Command } from './command/command.ts'
import { parseCommandLine } from './program/program.ts'
import { findNetworkSentence, findStorageSentence } from './registry/failure-sentences.ts'
import type { Environment, Io } from './terminal/io.ts'
import { createOutput, type Output } from './terminal/output.ts'
import { styled } from './terminal/style.ts'

/** Runs a command line and returns its exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const output = createOutput(io, args.includes('--json'))
  let hasFailed = false
  try {
    await parseCommandLine(args, io, async (command, given) => {
      hasFailed = await executeCommand(command, given, output)
    })
    return hasFailed ? 1 : 0
  } catch (error) {
    return printFailure(error, output, io.env)
  }
}

/** Runs a command and prints its result. Returns whether the result counts as a failure. */
async function executeCommand(command: Command, given: Arguments, output: Output): Promise<boolean> {
  const result = await command.run(given, output)
  if (output.json) {
    if (!command.printsItself && result !== undefined) output.showJson(result)
  } else {
    const print = command.isExact ? output.copy : output.show
    for (const line of command.show?.(result, given.io) ?? []) print(line as string)
  }
  return command.hasFailed?.(result) ?? false
}

function printFailure(error: unknown, { json, warn, say }: Output, env: Environment): number {
  const code = error instanceof RegistryError ? error.code : error instanceof UsageError ? 'usage' : 'failed'
  const sentence = findStorageSentence(error) ?? findNetworkSentence(error, env)
  const detail = sentence ?? toErrorText(error)
  // The message of a node may contain untrusted text.
  const shown = error instanceof RegistryError ? toOneLine(detail) : detail
  if (json) warn(toJsonLine({ error: { code, detail } }))
  else say(styled('bad', shown))
  return error instanceof UsageError ? 2 : 1
}
