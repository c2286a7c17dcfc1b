import { execFile, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { toBash } from '../../packages/cli/src/program/bash-completion.ts'
import { commandTable } from '../../packages/cli/src/program/command-table.ts'
import { listEntries } from '../../packages/cli/src/program/completion-entries.ts'
import { toFish } from '../../packages/cli/src/program/fish-completion.ts'
import { toZsh } from '../../packages/cli/src/program/zsh-completion.ts'
import { makeFolder, skillstead } from '../support/cli-harness.ts'

const run = promisify(execFile)
const isThere = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0

describe('the list of commands', () => {
  it('has one line of at most 120 characters for each command, which names the subcommands', async () => {
    const lines = (await skillstead(['help'])).stdout.split('\n')
    for (const { name, group, load } of commandTable) {
      const [noun, verb = ''] = name.split(' ')
      const line = lines.find((one) => one.startsWith(`  ${noun} `))
      expect(line, name).toBeDefined()
      expect(line, name).toContain(verb)
      expect(lines).toContain(`${group}:`)
      expect(await load(), name).toBeDefined()
    }
    expect(lines.filter((line) => line.length > 120)).toEqual([])
  })

  it('contains every command that a module of the CLI defines', async () => {
    const folder = new URL('../../packages/cli/src/commands/', import.meta.url)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const modules = await Promise.all(
      files.map((file) => import(new URL(file, folder).href) as Promise<{ commands?: object }>),
    )
    const names = modules.flatMap(({ commands = {} }) => Object.keys(commands))
    expect(new Set(commandTable.map(({ name }) => name))).toEqual(new Set([...names, 'completion']))
  })

  it('contains only the subcommands of `pack` if `pack` is run without a subcommand, or with --help', async () => {
    const alone = await skillstead(['pack'])
    expect(alone).toMatchObject({ code: 2, stdout: '' })
    expect(alone.stderr).toBe('`skillstead pack` needs one of list, show, create, add, remove, delete.\n')
    expect((await skillstead(['pack', '--help'])).stdout).toMatch(/ {2}create {2,}create a pack\n/)
  })
})

describe('skillstead completion', { timeout: 180_000 }, () => {
  let entries: Awaited<ReturnType<typeof listEntries>>
  let folder: string
  beforeAll(async () => {
    folder = await makeFolder()
    entries = await listEntries(commandTable)
  })

  it('prints a completion script for a supported shell, and refuses an unsupported shell', async () => {
    expect((await skillstead(['completion', 'bash'])).stdout).toBe(toBash(entries))
    expect(await skillstead(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' })
  })

  it.skipIf(!isThere('bash'))('completes commands, subcommands, options and paths in bash', async () => {
    await writeFile(join(folder, 'skillstead.bash'), toBash(entries))
    await writeFile(join(folder, 'a file'), '')
    const lines = ['pa', 'pack ', 'pack a', 'key ', 'key --pi', 'keys create --s', 'search --limit ', 'lint a']
    const tries = lines.map((line) => `try '${line}'`).join('\n')
    const script = `source ./skillstead.bash; complete -p skillstead
      try() { IFS=' ' read -ra words <<< "$1"; COMP_WORDS=(skillstead "\${words[@]}"); case "$1" in *' ') COMP_WORDS+=('') ;; esac
        COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _skillstead; printf '%s:' "$1"; printf ' <%s>' "\${COMPREPLY[@]}"; echo; }
      ${tries}`
    const { stdout, stderr } = await run('bash', ['-c', script], { cwd: folder })
    expect(stderr).toBe('')
    expect(stdout.trimEnd().split('\n')).toEqual([
      'complete -F _skillstead skillstead',
      'pa: <pack>',
      'pack : <list> <show> <create> <add> <remove> <delete>',
      'pack a: <add>',
      'key : <rotate>',
      'key --pi: <--pin>',
      'keys create --s: <--scopes>',
      'search --limit : <>',
      'lint a: <a file>',
    ])
  })

  it.skipIf(!isThere('zsh'))('prints a completion script that zsh loads without errors', async () => {
    await writeFile(join(folder, 'skillstead.zsh'), toZsh(entries))
    const script = 'autoload -U compinit; compinit -D; source ./skillstead.zsh; print $_comps[skillstead]'
    const { stdout, stderr } = await run('zsh', ['-f', '-c', script], { cwd: folder })
    expect({ stdout, stderr }).toEqual({ stdout: '_skillstead\n', stderr: '' })
  })

  it.skipIf(!isThere('fish'))('completes commands, subcommands and options in fish', async () => {
    await writeFile(join(folder, 'skillstead.fish'), toFish(entries))
    const lines = ['pa', 'key ', 'keys create --s']
    const script = `source skillstead.fish; ${lines.map((line) => `complete -C 'skillstead ${line}'`).join('; ')}`
    const { stdout } = await run('fish', ['--no-config', '-c', script], { cwd: folder })
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[0]),
    ).toEqual(['pack', 'rotate', '--scopes'])
  })
})
