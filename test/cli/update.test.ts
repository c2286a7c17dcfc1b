import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createClock } from '../support/harness.ts'
import { makeProject, type InstalledAnswer } from '../support/install-harness.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

interface Outdated {
  skills: { fullName: string; version: string; latestVersion: string | null; reason: string; message: string }[]
}

const dayMs = 24 * 60 * 60 * 1000
const csvMd = '---\nname: csv\ndescription: Reads tables\n---\n# CSV\n'

it('`outdated` lists outdated and yanked skills without counting a download, and `update` updates them', async () => {
  const clock = createClock()
  const { api, node } = await startNode({}, undefined, { clock })
  await api.publishSkill({ skillMd: csvMd, version: '1.0.0' })
  const project = await makeProject()
  await project.run('install', 'pdf', 'csv', '--url', node.url)
  const current = await project.run('outdated')
  expect([current.code, current.stdout]).toEqual([0, 'All skills are at their latest version.\n'])

  await api.publishSkill({ skillMd: `${skillMd}More.\n`, version: '1.10.0' })
  await api.publishSkill({ skillMd: `${csvMd}More.\n`, version: '2.0.0' })
  await api.yankVersion({ name: 'csv', version: '2.0.0' })
  const old = await project.run('outdated', '--json')
  expect([old.code, old.stderr]).toEqual([1, ''])
  expect((JSON.parse(old.stdout) as Outdated).skills).toMatchObject([
    { fullName: 'alice/pdf', version: '1.0.0', latestVersion: '1.10.0', reason: 'outdated' },
  ])
  expect((await project.run('outdated', 'csv')).code).toBe(0)

  await api.publishSkill({ skillMd: `${csvMd}Again.\n`, version: '0.9.0' })
  await api.yankVersion({ name: 'csv', version: '1.0.0' })
  const before = await project.files()
  // A download counts once for an address, skill and day.
  clock.advance(dayMs)
  const updated = await project.run('update')
  expect(updated.stdout.split('\n').toSorted()).toEqual([
    '',
    'Downgraded alice/csv from 1.0.0 to 0.9.0 in .agents/skills/csv.',
    'Updated alice/pdf from 1.0.0 to 1.10.0 in .agents/skills/pdf.',
  ])
  const after = await project.files()
  expect(after['.agents/skills/csv/SKILL.md']).toBe(`${csvMd}Again.\n`)
  expect(after['.agents/skills/pdf/SKILL.md']).not.toBe(before['.agents/skills/pdf/SKILL.md'])
  // The installation and the update; asking whether anything is new is no download.
  await expect.poll(async () => (await api.getSkill({ name: 'pdf' })).downloads).toBe(2)
  expect((await project.run('update')).stdout).toBe('All skills are at their latest version.\n')
})

it('`outdated` warns about problems that no update fixes, such as a deprecated skill or a new owner', async () => {
  const { api, node, createUser, get } = await startNode()
  const key = await createUser('bob')
  await api.publishSkill({ skillMd: csvMd, version: '1.0.0' })
  const project = await makeProject()
  await project.run('install', 'pdf', 'csv', '--url', node.url)
  await api.publishSkill({ name: 'csv', deprecated: true, deprecationMessage: 'Take tables.' })
  await api.transferSkill({ name: 'pdf', newOwner: 'bob' })
  const accept = { method: 'POST', headers: { authorization: `Bearer ${key}` } }
  const moved = await get('/skills/alice%2Fpdf/transfer/accept', accept)
  expect(moved.ok).toBe(true)
  const same = await project.json<InstalledAnswer>('update')
  expect(same.skills).toEqual([])
  expect(same.warnings).toEqual(["alice/csv is deprecated. Author's message: Take tables."])

  const folder = join(project.folder, '../bobs')
  await mkdir(folder)
  await writeFile(join(folder, 'SKILL.md'), `${skillMd}More.\n`)
  await project.run('publish', folder, '--key', key, '--url', node.url)
  const { stdout } = await project.run('update')
  expect(stdout).toContain('Updated bob/pdf from 1.0.0 to 1.0.1 in .agents/skills/pdf.')
  expect(stdout).toContain('Warning: alice/pdf has a new owner and is now bob/pdf.')
  expect((await project.run('list')).stdout).toBe(
    'alice/csv@1.0.0  .agents/skills/csv\nbob/pdf@1.0.1    .agents/skills/pdf\n',
  )
})
