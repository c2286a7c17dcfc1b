import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { promisify } from 'node:util'
import { eventNames } from '@skillstead/protocol'
import { describe, expect, it } from 'vitest'
import { parseCommandLine } from '../../packages/cli/src/program/program.ts'
import { makeFolder, mainFile, startServerProcess } from '../support/cli-harness.ts'
import { documents, isOutput, readBlocks, readSteps, toWords } from '../support/doc-commands.ts'

/** The reason why the words after `skillstead` are an invalid command line; undefined for a valid one. */
async function findFault(words: readonly string[]): Promise<string | undefined> {
  const io = { env: {}, stdin: process.stdin, stdout: new PassThrough(), stderr: new PassThrough(), interruption }
  try {
    await parseCommandLine(words, io, () => Promise.resolve())
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const interruption = () => new AbortController().signal

describe('the documents', () => {
  it.each(documents)('contain in %s only existing commands and options', async (document) => {
    const faults: string[] = []
    for (const block of readBlocks(document)) {
      if (!['console', 'sh', undefined].includes(block.info[0])) continue
      for (const { command } of readSteps(block)) {
        const words = toWords(command)
        const fault = words && (await findFault(words))
        if (fault !== undefined) faults.push(`${document}:${block.line}: ${command}: ${fault}`)
      }
    }
    expect(faults).toEqual([])
  })

  it('list in webhooks.md every event, and no other', () => {
    const table = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8')
    const listed = [...table.matchAll(/^\| `([a-z.]+)` \|/gm)].map(([, name]) => name)
    expect(listed.toSorted()).toEqual(eventNames.toSorted())
  })
})

const isRunnable = ({ info }: { info: readonly string[] }) => info.includes('runnable')

/** Programs that the documents name, as a clone has them: the launcher in the root, and pnpm's script. */
async function makePrograms(folder: string, cwd: string): Promise<string> {
  const programs = join(folder, 'programs')
  await mkdir(programs)
  const start = `exec '${process.execPath}' --conditions=source '${mainFile}' "$@"`
  const npx = '[ "$1 $2 $3 $4" = "--yes pnpm@12 -s skillstead" ] || exit 127; shift 4; exec skillstead "$@"'
  for (const [name, script] of Object.entries({ skillstead: start, npx }))
    await writeFile(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  await symlink(join(programs, 'skillstead'), join(cwd, 'skillstead'))
  return programs
}

describe('the runnable code blocks of the documents', () => {
  it.each(documents.filter((document) => readBlocks(document).some(isRunnable)))(
    'of %s print the shown output if they run in order with a node of `skillstead start`',
    async (document) => {
      const folder = await makeFolder()
      const cwd = join(folder, 'work')
      await mkdir(cwd)
      const programs = await makePrograms(folder, cwd)
      const node = await startServerProcess(['start', '--port', '0'], cwd)
      const steps = readBlocks(document).filter(isRunnable).flatMap(readSteps)
      const toLocal = (text: string) => text.replaceAll('http://localhost:7545', node.url)
      // All blocks run in one shell, so that later blocks see exported variables.
      const script = steps.map(({ command }) => `{ ${toLocal(command)}\n}\nprintf '\\036'`).join('\n')
      const env = { PATH: [programs, process.env.PATH].join(delimiter), HOME: folder }
      const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { cwd, env })
      await node.stop()
      const outputs = stdout.split('\u001E')
      const wrong = steps.flatMap(({ command, output }, index) => {
        const actual = (outputs[index] ?? '').replaceAll(folder, '~')
        return isOutput(toLocal(output), actual) ? [] : [{ command, output, actual }]
      })
      expect(wrong, stderr).toEqual([])
    },
  )
})
