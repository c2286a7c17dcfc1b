import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@skillstead/client'
import { expect, it, onTestFinished } from 'vitest'
import { makeFolder, skillsteadJson, startServer, type Running } from '../support/cli-harness.ts'

const page = fileURLToPath(new URL('../../docs/air-gap.md', import.meta.url))
const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

interface Step {
  readonly command: string
  /** The output that the page shows below the command. */
  readonly shown: readonly string[]
}

/** The commands of a page in order, with their documented output. */
function readSteps(text: string): Step[] {
  const steps: { command: string; shown: string[] }[] = []
  for (const [, block] of text.matchAll(/^```\n([^]*?)^```$/gm)) {
    for (const line of block!.trimEnd().split('\n')) {
      if (line.startsWith('$ ')) steps.push({ command: line.slice(2), shown: [] })
      else steps.at(-1)!.shown.push(line)
    }
  }
  return steps
}

/** Numbers may differ between runs, and `…` replaces omitted text. */
function toPattern(shown: string): RegExp {
  const escaped = shown.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll(/\d+/g, String.raw`\d+`).replaceAll('…', '.*')}$`, 'm')
}

it('the commands of the air-gap page work, from the first sync to an update', { timeout: 600_000 }, async () => {
  const folder = await makeFolder()
  const place = (name: string) => join(folder, name)
  for (const name of ['bin', 'media/stick', 'srv', 'home']) await mkdir(place(name), { recursive: true })
  await writeFile(place('bin/skillstead'), `#!/bin/sh\nexec '${process.execPath}' --conditions=source '${main}' "$@"\n`)
  await chmod(place('bin/skillstead'), 0o755)
  await skillsteadJson(['examples', '--data', place('upstream')])
  const { key } = await skillsteadJson<{ key: string }>(['users', 'create', 'alice', '--data', place('upstream')])
  const upstream = await startServer(['serve', '--port', '0', '--data', place('upstream')])
  onTestFinished(async () => void (await upstream.stop()))
  let inside: Running | undefined
  onTestFinished(async () => void (await inside?.stop()))

  const toReal = (text: string) =>
    text
      .replaceAll('https://skills.example.com', upstream.url)
      .replaceAll(/http:\/\/(?:localhost|127\.0\.0\.1):7545/g, inside?.url ?? 'http://127.0.0.1:7545')
      .replaceAll(/(?<=^|\s)\/(srv|media)\//g, `${folder}/$1/`)
  const toLine = (shown: string) => toPattern(toReal(shown).replaceAll('skills.example.com', '…'))
  /** Returns the output of the command; rejects if it fails. */
  const run = (command: string) =>
    new Promise<string>((resolve, reject) => {
      const env = { PATH: `${place('bin')}:${process.env.PATH}`, HOME: place('home') }
      execFile('bash', ['-c', command], { cwd: folder, env }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${command} ended with ${error.code}: ${stderr}`))
        else resolve(stdout)
      })
    })

  const steps = readSteps(await readFile(page, 'utf8'))
  let syncs = 0
  for (const { command, shown } of steps) {
    if (command.includes('mirror sync') && ++syncs === 2) {
      const skillMd =
        '---\nname: standup-notes\ndescription: Three short lines for a stand-up.\n---\n# Notes\n\nWrite.\n'
      await createClient({ baseUrl: upstream.url, apiKey: key }).publishSkill({ skillMd })
    }
    let printed: string
    if (command.startsWith('skillstead serve ')) {
      inside = await startServer([...toReal(command).split(' ').slice(1), '--port', '0'])
      printed = inside.said()
    } else {
      printed = await run(toReal(command))
    }
    // The running node sees within one second what another process wrote.
    const isFollowed = command.startsWith('skillstead search ')
    const read = async () => (isFollowed ? run(toReal(command)) : printed)
    for (const line of shown) await expect.poll(read, { message: command }).toMatch(toLine(line))
  }
  expect(steps.length).toBeGreaterThan(12)
  const { skills } = await createClient({ baseUrl: inside!.url }).searchSkills({ limit: 100 })
  expect(skills).toHaveLength(11)
  expect(await readFile(place('.agents/skills/commit-messages/SKILL.md'), 'utf8')).toContain('name: commit-messages')
})
