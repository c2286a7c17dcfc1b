import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSkillMd } from '@skillstead/skill-format'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'
import { scanCommand } from '../support/scanner-command.ts'
import { sampleOf } from '../support/security-samples.ts'

interface PreCommitConfig {
  readonly repos: readonly { readonly hooks: readonly Hook[] }[]
}

interface Hook {
  readonly additional_dependencies: readonly string[]
  readonly entry: string
  readonly args: readonly string[]
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>
}

interface Step {
  readonly run?: string
  readonly with?: Readonly<Record<string, string>>
}

const root = fileURLToPath(new URL('../../', import.meta.url))

async function readExample<T>(name: string): Promise<T> {
  const text = await readFile(join(root, 'examples/ci', name), 'utf8')
  return parseSkillMd(`---\n${text}---\n`).frontmatter as T
}

async function readScanner() {
  const { name, version, bin } = JSON.parse(await readFile(join(root, 'packages/scanner/package.json'), 'utf8'))
  return { specifier: `${name}@${version}`, command: Object.keys(bin)[0] }
}

async function readScan() {
  const { steps } = (await readExample<Workflow>('scan-skills.yml')).jobs['scan']!
  const words = steps.find(({ run }) => run !== undefined)!.run!.split(' ')
  return { steps, words }
}

let folder: string
beforeEach(async () => {
  folder = await makeFolder()
})

async function write(path: string, text: string): Promise<string> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  return file
}

describe('the pre-commit hook', () => {
  it('installs this version of the scanner', async () => {
    const { specifier, command } = await readScanner()
    const hook = (await readExample<PreCommitConfig>('pre-commit-config.yaml')).repos[0]!.hooks[0]!
    expect(hook).toMatchObject({ additional_dependencies: [specifier], entry: command })
  })

  it('fails for a changed file of a flagged skill, and passes for other files', async () => {
    const { args } = (await readExample<PreCommitConfig>('pre-commit-config.yaml')).repos[0]!.hooks[0]!
    await write('skills/bad/SKILL.md', sampleOf('dangerous', 'bad'))
    const notes = await write('skills/bad/notes.md', 'Notes.\n')
    const fine = await write('skills/fine/SKILL.md', sampleOf('safe', 'fine'))
    const readme = await write('README.md', 'Text.\n')
    expect(await scanCommand([...args, notes, fine])).toMatchObject({ code: 1 })
    expect(await scanCommand([...args, fine, readme])).toMatchObject({ code: 0 })
  })
})

describe('the workflow of GitHub Actions', () => {
  it('runs this version of the scanner', async () => {
    const { specifier } = await readScanner()
    expect((await readScan()).words.slice(0, 3)).toEqual(['npx', '--yes', specifier])
  })

  it('writes the SARIF file that it uploads, and fails for a dangerous skill', async () => {
    const { steps, words } = await readScan()
    const uploaded = steps.flatMap((step) => step.with?.['sarif_file'] ?? [])
    expect(uploaded).toEqual([words[words.indexOf('--sarif') + 1]])
    const sarif = join(folder, uploaded[0]!)
    const args = words.slice(3).map((word) => (word === '.' ? folder : word === uploaded[0] ? sarif : word))
    await write('skills/bad/SKILL.md', sampleOf('dangerous', 'bad'))
    expect(await scanCommand(args)).toMatchObject({ code: 1 })
    const { version, runs } = JSON.parse(await readFile(sarif, 'utf8'))
    expect(version).toBe('2.1.0')
    expect(runs[0].results.length).toBeGreaterThan(0)
    await write('skills/bad/SKILL.md', sampleOf('safe', 'bad'))
    expect(await scanCommand(args)).toMatchObject({ code: 0 })
  })
})
