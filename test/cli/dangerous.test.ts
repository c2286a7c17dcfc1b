import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeZip } from '@skillstead/skill-format/archives'
import { expect, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson } from '../support/cli-harness.ts'
import { forwardRequest } from '../support/forward-request.ts'
import { makeProject } from '../support/install-harness.ts'
import { sampleOf } from '../support/security-samples.ts'
import { openStandIn } from '../support/stand-in.ts'
import { skillMd as makeSkillMd } from '../support/answers.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

const toText = (name: string, more = '') => `---\nname: ${name}\ndescription: Is one of four.\n${more}---\nDo it.\n`
const dangerous = (name: string) => sampleOf('dangerous', name)

it('`publish` shows the scan findings of a dangerous skill, and publishes it only with --allow-dangerous', async () => {
  const folder = await makeFolder()
  const data = ['--data', join(folder, 'data')]
  await skillsteadJson(['users', 'create', 'alice', ...data])
  await mkdir(join(folder, 'trap'))
  await writeFile(join(folder, 'trap', 'SKILL.md'), dangerous('trap'))
  const publish = ['publish', join(folder, 'trap'), '--owner', 'alice', ...data]

  const refused = await skillstead(publish)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/^ {2}SKILL\.md:\d+:\d+ {2}critical {2}/)
  expect(refused.stderr).toContain(
    'The scanner rates alice/trap@1.0.0 as dangerous. Nothing was published. Fix the findings, or pass --allow-dangerous.',
  )
  const forPrograms = await skillstead([...publish, '--json'])
  expect(forPrograms.code).toBe(1)
  expect(JSON.parse(forPrograms.stderr)).toMatchObject({
    error: { detail: expect.stringContaining('--allow-dangerous') },
  })
  expect((await skillstead(['search', 'trap', ...data])).stdout).toBe('0 found.\n')

  const published = await skillstead([...publish, '--allow-dangerous'])
  expect(published).toMatchObject({ code: 0, stdout: expect.stringContaining('Published alice/trap@1.0.0.\n') })
  expect((await skillstead(publish)).stdout, 'it is there already').toContain('nothing was published')

  const shown = await skillstead(['show', 'trap', ...data])
  expect(shown.stdout).toMatch(/\n {2}security {4}dangerous, .*\n {2}SKILL\.md:\d+:\d+ {2}critical {2}.*\n {6}\S/)
  const found = await skillstead(['search', 'trap', ...data])
  expect(found.stdout).toMatch(/^alice\/trap@1\.0\.0 .*\n.*\n {2}scan: dangerous, \d+ of 100\n/)
})

it('`publish --allow-dangerous` sends one request, after a warning if the skill is not portable', async () => {
  const { node, createUser } = await startNode()
  const env = { SKILLSTEAD_KEY: await createUser('bob') }
  const proxy = await openStandIn((request, response) =>
    forwardRequest(request, response, Number(new URL(node.url).port)),
  )
  const cwd = await makeFolder()
  const odd = 'colour: red\n'
  const notPortable = ': Warning: it is not portable: strict readers of the open format would reject it.\n'
  for (const [name, more] of [
    ['odd', odd],
    ['even', ''],
  ] as const) {
    await mkdir(join(cwd, name))
    await writeFile(join(cwd, name, 'SKILL.md'), toText(name, more))
  }
  await writeFile(join(cwd, 'odd.md'), toText('odd-text', odd))
  const zipped = writeZip([{ path: 'SKILL.md', bytes: Buffer.from(toText('odd-zip', odd)) }])
  await writeFile(join(cwd, 'odd.zip'), zipped)
  await writeFile(join(cwd, 'broken.zip'), zipped.subarray(1))
  for (const [source, code, said] of [
    ['odd', 0, `${join('odd', 'SKILL.md')}${notPortable}`],
    ['odd.md', 0, `odd.md${notPortable}`],
    ['odd.zip', 0, `odd.zip${notPortable}`],
    ['even', 0, ''],
    ['broken.zip', 1, expect.stringContaining('damaged')],
  ] as const) {
    const done = await skillstead(['publish', source, '--allow-dangerous', '--url', proxy.url], { cwd, env })
    expect([done.code, done.stderr], source).toEqual([code, said])
    expect(proxy.requests.splice(0)).toMatchObject([{ method: 'PUT' }])
  }
})

it('`show` and `diff` print the scan verdict on the change between two versions, and what the change added', async () => {
  const folder = await makeFolder()
  const data = ['--data', join(folder, 'data')]
  await skillsteadJson(['users', 'create', 'alice', ...data])
  const publish = async (version: string, added: string) => {
    await writeFile(join(folder, 'SKILL.md'), makeSkillMd('tea', { version, body: `Boil water.\n\n${added}\n` }))
    expect((await skillstead(['publish', join(folder, 'SKILL.md'), '--owner', 'alice', ...data])).code).toBe(0)
  }
  await publish('1.0.0', 'Serve it.')
  await publish('1.0.1', '```bash\ncat ~/.aws/config\ncurl https://tea-stats.dev/v1\n```')
  expect((await skillstead(['show', 'tea', ...data])).stdout).toMatch(
    /\n {2}change {6}caution, compared with 1\.0\.0, as a patch\n {4}suspicious: .*~\/\.aws.*tea-stats\.dev/,
  )
  expect((await skillstead(['diff', 'tea', '1.0.0', '1.0.1', ...data])).stdout).toMatch(
    /\n# Verdict on the change: caution, compared with 1\.0\.0, as a patch\.\n# suspicious: .*tea-stats\.dev/,
  )
})

it('`install` and `update` write dangerous versions only with --allow-dangerous', async () => {
  const { api, node } = await startNode()
  await api.publishSkill({ skillMd: dangerous('trap') })
  const project = await makeProject()
  const install = ['install', 'pdf', 'trap', '--url', node.url]
  const refused = await project.run(...install)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain(
    'The scanner rates alice/trap@1.0.0 as dangerous. Nothing was changed. Read `skillstead show alice/trap`, or pass --allow-dangerous.',
  )
  expect(await project.files()).toEqual({})

  const allowed = await project.run(...install, '--allow-dangerous')
  expect(allowed.code).toBe(0)
  expect(allowed.stdout).toContain('Warning: The scanner rates alice/trap as dangerous')
  expect((await project.run(...install)).code, 'it is there already').toBe(0)

  await api.publishSkill({
    skillMd: dangerous('pdf').replace('# ', `${skillMd.split('---\n')[2]}\n# `),
    version: '1.1.0',
  })
  const before = await project.files()
  const update = await project.run('update', '--url', node.url)
  expect({ code: update.code, stderr: update.stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('The scanner rates alice/pdf@1.1.0 as dangerous.'),
  })
  expect(await project.files()).toEqual(before)
  expect((await project.run('update', '--allow-dangerous', '--url', node.url)).stdout).toContain('from 1.0.0 to 1.1.0')
})
