import { partsOf } from '@skillstead/core/internal'
import { expect, it } from 'vitest'
import { skillstead } from '../support/cli-harness.ts'
import { createClock } from '../support/harness.ts'
import { makeProject } from '../support/install-harness.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

const dayMs = 24 * 60 * 60 * 1000

async function startCounting() {
  const clock = createClock()
  const { api, node, registry } = await startNode({}, undefined, { clock })
  const countsOf = async (days = 30) => {
    await partsOf(registry).counters.flush()
    const { entries } = await api.getTrending({ period: 'month' })
    const { total, groups = [] } = await api.getDownloads({ name: 'pdf', days, by: 'client' })
    return { installs: entries[0]?.installs ?? 0, downloads: total, clients: groups.map(({ name }) => name) }
  }
  return { api, node, clock, countsOf }
}

it('`install` and `update` count as an install only if the command downloads a package', async () => {
  const { api, node, clock, countsOf } = await startCounting()
  const project = await makeProject()
  await project.run('install', 'pdf', '--url', node.url)
  expect(await countsOf()).toEqual({ installs: 1, downloads: 1, clients: ['cli'] })
  await project.run('outdated')
  await project.run('update')
  await project.run('install')
  expect(await countsOf()).toMatchObject({ installs: 1, downloads: 1 })
  clock.advance(dayMs)
  await api.publishSkill({ skillMd: `${skillMd}More.\n`, version: '1.1.0' })
  await project.run('update')
  expect(await countsOf()).toMatchObject({ installs: 2, downloads: 2 })
  expect((await api.getDownloads({ name: 'pdf', by: 'version' })).groups).toEqual([
    { name: '1.0.0', downloads: 1, installs: 1 },
    { name: '1.1.0', downloads: 1, installs: 1 },
  ])
})

it('commands that read a package without an install are counted as downloads only', async () => {
  const { node, countsOf } = await startCounting()
  await skillstead(['load', 'pdf', '--url', node.url])
  expect(await countsOf()).toEqual({ installs: 0, downloads: 1, clients: ['api'] })
})

it.each([
  ['SKILLSTEAD_NO_TRACK', '1', 0],
  ['DO_NOT_TRACK', 'yes', 0],
  ['DO_NOT_TRACK', '0', 1],
  ['SKILLSTEAD_NO_TRACK', 'false', 1],
  ['SKILLSTEAD_NO_TRACK', ' ', 1],
])('with %s=%s, %i installs are counted', async (name, value, counted) => {
  const { node, countsOf } = await startCounting()
  const project = await makeProject()
  const env = { ...project.env, [name]: value }
  const installed = await skillstead(['install', 'pdf', '--url', node.url], { cwd: project.folder, env })
  expect(installed.code).toBe(0)
  expect(await countsOf()).toMatchObject({ installs: counted, downloads: counted })
})
