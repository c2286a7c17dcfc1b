import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { listInstallers } from '../../packages/dashboard/src/pages/skill/install-ways.ts'
import { makeFolder } from '../support/cli-harness.ts'
import { installProgram, type NpmProgram } from '../support/npm-program.ts'
import { openNode } from '../support/server-harness.ts'

vi.setConfig({ testTimeout: 240_000 })

const toSkillMd = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: What ${name} does ${more}\n---\nReads.\n`

let node: Awaited<ReturnType<typeof openNode>>
beforeAll(async () => {
  // Claude Code refuses zips over plain HTTP, so that only the form of the documents can be checked.
  node = await openNode({ publicUrl: 'https://skills.example.com' })
  const files = [{ path: 'scripts/run.sh', content: 'echo hi\n' }]
  await node.api.publishSkill({ skillMd: toSkillMd('tool'), version: '1.2.0', files })
  await node.api.createPack({ name: 'Basics', description: '', skills: ['alice/tool', 'alice/pdf'] })
})
afterAll(() => node.close())

/** The texts that the install page shows. */
function listTexts(isPublic: boolean): string[] {
  const tool = { origin: node.node.url, name: 'alice/tool', version: '1.2.0', isPublic, isDangerous: false }
  return listInstallers(tool).flatMap(({ ways }) => ways.map(({ text }) => text))
}

/** The arguments of the commands that the install page shows for a program. */
function listCommands(program: string): string[][] {
  const texts = listTexts(true)
  const commands = texts.flatMap((text) => text.split('\n')).map((line) => line.split(' '))
  return commands.filter(([name]) => name === program).map(([, ...args]) => args)
}

/**
 * Deletes the skill of an earlier call, so that the history of the owner is another one, which no fast-forward can
 * follow, and publishes one that the next call deletes.
 */
async function forgetSkill() {
  if (passing > 0) await node.api.deleteSkill({ name: `alice/passing-${passing}` })
  passing += 1
  await node.api.publishSkill({ skillMd: toSkillMd(`passing-${passing}`) })
}
let passing = 0

async function makeUser(program: NpmProgram) {
  const home = await makeFolder()
  const env = { HOME: home, CODEX_HOME: home, DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1' }
  return {
    home,
    read: (path: string) => readFile(join(home, path), 'utf8'),
    async run(...args: string[]) {
      const { code, stdout, stderr } = await program.run(args, { cwd: home, env })
      return { code, text: stdout + stderr }
    },
  }
}

it('Claude Code installs skills and packs from repositories, and accepts the marketplace documents', async () => {
  // Its script puts the program of the platform into place.
  const claude = await installProgram('@anthropic-ai/claude-code@2.1.330', 'claude', { runsScripts: true })
  const { home, run, read } = await makeUser(claude)
  const ofPack = [
    ['plugin', 'marketplace', 'add', `${node.node.url}/git/packs/basics.git`],
    ['plugin', 'install', 'basics@basics'],
  ]
  const shown = listCommands('claude')
  expect(shown.map(([command]) => command)).toEqual(['plugin', 'plugin', 'mcp'])
  for (const command of [...shown, ...ofPack]) {
    const { code, text } = await run(...command)
    expect(code, `${command.join(' ')}: ${text}`).toBe(0)
  }
  expect(await read('.claude/plugins/cache/alice/tool/1.2.0/SKILL.md')).toBe(toSkillMd('tool'))
  expect(await read('.claude/plugins/cache/alice/tool/1.2.0/scripts/run.sh')).toBe('echo hi\n')
  expect((await run('plugin', 'list')).text).toContain('basics@basics')
  expect((await run('plugin', 'details', 'basics@basics')).text).toContain('Skills (2)  pdf, tool')
  expect((await run('plugin', 'details', 'tool@alice')).text).toContain('Skills (1)  tool')
  for (const version of ['1.0.0', '1.1.0']) {
    await node.api.publishSkill({ skillMd: toSkillMd('growing', version), version })
    await forgetSkill()
    await run('plugin', 'marketplace', 'update', 'alice')
    const { code, text } = await run('plugin', version === '1.0.0' ? 'install' : 'update', 'growing@alice')
    expect(code, text).toBe(0)
    const installed = await read(`.claude/plugins/cache/alice/growing/${version}/SKILL.md`)
    expect(installed).toBe(toSkillMd('growing', version))
  }
  const connects = listTexts(false).filter((text) => text.startsWith('claude '))
  expect(connects).toHaveLength(1)
  await run('mcp', 'remove', 'skillstead')
  const path = [dirname(claude.path!), dirname(process.execPath), process.env['PATH']].join(delimiter)
  const env = { PATH: path, HOME: home, SKILLSTEAD_KEY: node.key, DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1' }
  await promisify(execFile)('bash', ['-euc', connects[0]!], { cwd: home, env })
  expect((await run('mcp', 'get', 'skillstead')).text).toContain('Connected')
  for (const scope of ['/alice', '/alice/tool', '/packs/basics']) {
    const document = await fetch(`${node.node.url}${scope}/.claude-plugin/marketplace.json`)
    await writeFile(join(home, 'marketplace.json'), await document.text())
    const checked = await run('plugin', 'validate', join(home, 'marketplace.json'))
    expect(checked.text).toContain('Validation passed')
    expect(checked.text).not.toContain('warning')
  }
})

it('Codex installs all skills of an owner, and a single skill, and shows them to the model', async () => {
  const codex = await installProgram('@openai/codex@0.169.0', 'codex')
  const { run } = await makeUser(codex)
  const commands = listCommands('codex')
  expect(commands).toHaveLength(2)
  for (const command of commands) {
    const { code, text } = await run(...command)
    expect(code, `${command.join(' ')}: ${text}`).toBe(0)
  }
  const shown = async () => (await run('debug', 'prompt-input', 'hello')).text
  expect(await shown()).toContain('tool:tool: What tool does')
  expect(await shown()).not.toContain('Reads PDF files')
  expect((await run('plugin', 'add', 'alice@alice')).code).toBe(0)
  expect(await shown()).toContain('alice:pdf: Reads PDF files')
  for (const version of ['1.0.0', '1.1.0']) {
    await node.api.publishSkill({ skillMd: toSkillMd('coded', version), version })
    await forgetSkill()
    const upgraded = await run('plugin', 'marketplace', 'upgrade', 'alice')
    expect(upgraded.code, upgraded.text).toBe(0)
    // Adding a plugin again installs its current version.
    const { code, text } = await run('plugin', 'add', 'coded@alice')
    expect(code, text).toBe(0)
    expect(await shown()).toContain(`coded:coded: What coded does ${version}`)
  }
})
