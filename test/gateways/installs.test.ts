import { countedAs, partsOf } from '@skillstead/core/internal'
import { gatewayNames } from '@skillstead/gateways'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'
import { openGit } from '../support/git-program.ts'
import { npm } from '../support/npm-program.ts'
import { openNode } from '../support/server-harness.ts'

let node: Awaited<ReturnType<typeof openNode>>
let url: string
beforeAll(async () => {
  node = await openNode({ trustedProxies: ['127.0.0.1'], rates: 'off' })
  url = node.node.url
})
afterAll(() => node.close())

const files = [{ path: 'notes/more.txt', content: 'More.\n' }]
const toSkillMd = (name: string, body = 'Reads.') =>
  `---\nname: ${name}\ndescription: What ${name} does\n---\n${body}\n`

async function publish(name: string, body?: string, version = '1.0.0') {
  await node.api.publishSkill({ skillMd: toSkillMd(name, body), version, files })
}

async function read(path: string, headers: Record<string, string> = {}, init: RequestInit = {}) {
  const response = await fetch(url + path, { ...init, headers: { 'x-forwarded-for': '192.0.2.1', ...headers } })
  expect(response.status, path).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

/** What the node counted of a skill. */
async function countsOf(name: string) {
  const { counters, telemetry } = partsOf(node.registry)
  await counters.flush()
  await telemetry.flush()
  const { entries } = await node.api.getTrending({ period: 'day', limit: 100 })
  const { total, groups = [] } = await node.api.getDownloads({ name, by: 'client' })
  const installs = entries.find(({ skill }) => skill.name === name)?.installs ?? 0
  return { installs, downloads: total, clients: groups.map((group) => group.name) }
}

const installedBy = (client: string) => ({ installs: 1, downloads: 1, clients: [client] })
const downloadedBy = (client: string) => ({ installs: 0, downloads: 1, clients: [client] })

describe('a download that counts as an install', () => {
  it('is a clone of a skill by git, and a fetch of a new version on a later day', async () => {
    await publish('cloned')
    const git = await openGit()
    await git.run('ls-remote', `${url}/git/alice/cloned.git`)
    expect(await countsOf('cloned')).toEqual({ installs: 0, downloads: 0, clients: [] })
    await git.run('clone', '-q', `${url}/git/alice/cloned.git`, 'work')
    expect(await countsOf('cloned')).toEqual(installedBy('git'))
    await git.run('-C', 'work', 'fetch', '-q')
    await publish('cloned', 'Reads more.', '1.1.0')
    await git.run('-C', 'work', '-c', 'http.extraHeader=x-forwarded-for: 192.0.2.9', 'pull', '-q')
    expect(await countsOf('cloned')).toMatchObject({ installs: 2, downloads: 2 })
  })

  it('is the tarball that npm installs, not what `npm view` reads', async () => {
    await publish('packed')
    const cwd = await makeFolder()
    const env = { HOME: cwd, npm_config_registry: `${url}/npm/`, npm_config_update_notifier: 'false' }
    expect((await npm.run(['view', '@alice/packed'], { cwd, env })).code).toBe(0)
    expect(await countsOf('packed')).toEqual({ installs: 0, downloads: 0, clients: [] })
    const args = ['install', '--prefix', cwd, '--no-audit', '@alice/packed']
    expect((await npm.run(args, { cwd, env })).stderr).not.toContain('npm error')
    expect(await countsOf('packed')).toEqual(installedBy('npm'))
  })

  it('is the layer of an OCI artifact, not its manifest or config', async () => {
    await publish('pulled')
    const manifest = JSON.parse((await read('/v2/alice/pulled/manifests/latest')).toString())
    await read(`/v2/alice/pulled/blobs/${manifest.config.digest}`)
    expect((await countsOf('pulled')).installs).toBe(0)
    await read(`/v2/alice/pulled/blobs/${manifest.layers[0].digest}`, { 'user-agent': 'oras/1.2.0' })
    expect(await countsOf('pulled')).toEqual(installedBy('oci'))
  })

  it('is a package of apm', async () => {
    await publish('apackage')
    await read('/apm/v1/packages/alice/apackage/versions')
    await read('/apm/v1/packages/alice/apackage/versions/1.0.0/download')
    expect(await countsOf('apackage')).toEqual(installedBy('apm'))
  })

  it('is the archive of `clawhub install`, not a file that it shows', async () => {
    await publish('clawed')
    const query = 'slug=clawed&ownerHandle=alice'
    await read(`/clawhub/api/v1/skills/clawed/file?path=SKILL.md&ownerHandle=alice`)
    expect((await countsOf('clawed')).downloads).toBe(0)
    await read(`/clawhub/api/v1/download?${query}&version=1.0.0`)
    expect(await countsOf('clawed')).toEqual(installedBy('clawhub'))
  })

  it('is an archive or SKILL.md from the index of a skill, not from an index of several skills', async () => {
    for (const name of ['indexed', 'listed', 'older']) await publish(name)
    const folder = '.well-known/agent-skills'
    await read(`/alice/indexed/${folder}/index.json`)
    await read(`/alice/indexed/${folder}/indexed-1.0.0.zip`)
    expect(await countsOf('indexed')).toEqual(installedBy('discovery'))
    await read('/alice/older/.well-known/skills/older/SKILL.md')
    expect(await countsOf('older')).toEqual(installedBy('discovery'))
    await read(`/alice/${folder}/index.json`)
    await read(`/alice/${folder}/listed-1.0.0.zip`)
    expect((await countsOf('listed')).downloads).toBe(0)
  })

  it('is an archive of a marketplace', async () => {
    await publish('marketed')
    await read('/alice/.claude-plugin/marketplace.json')
    await read('/alice/.claude-plugin/marketed-1.0.0.zip')
    expect(await countsOf('marketed')).toEqual(installedBy('marketplaces'))
  })

  it('is a package from the API if the client reports an installation', async () => {
    for (const name of ['plain', 'ours']) await publish(name)
    await read('/api/v1/skills/alice%2Fplain/archive')
    expect(await countsOf('plain')).toEqual(downloadedBy('api'))
    for (const install of ['0', 'true', '']) {
      await read('/api/v1/skills/alice%2Fours/archive', { 'x-skillstead-install': install })
    }
    expect(await countsOf('ours')).toEqual(downloadedBy('api'))
    await read('/api/v1/skills/alice%2Fours/archive', { 'x-skillstead-install': '1' })
    // The download was already counted for this address, the install was not.
    expect(await countsOf('ours')).toMatchObject({ installs: 1, downloads: 1 })
  })

  it('is neither a skill that an agent loads nor a link that a browser opens', async () => {
    for (const name of ['loaded', 'browsed']) await publish(name)
    const params = { name: 'load_skill', arguments: { name: 'alice/loaded' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    await read('/mcp', types, { method: 'POST', body })
    expect(await countsOf('loaded')).toEqual(downloadedBy('mcp'))
    // Browsers send this header themselves; `fetch` here would replace it.
    const { request } = await import('node:http')
    const headers = { 'sec-fetch-mode': 'navigate', 'x-skillstead-install': '1' }
    for (const path of [
      '/alice/browsed/.well-known/agent-skills/browsed-1.0.0.zip',
      '/api/v1/skills/alice%2Fbrowsed/archive',
    ]) {
      await new Promise((resolve) =>
        request(url + path, { headers }, (response) => response.resume().on('end', resolve)).end(),
      )
    }
    expect(await countsOf('browsed')).toEqual(downloadedBy('browser'))
  })

  it('counts once per address, skill and day, whatever the client, and not for the owner', async () => {
    await publish('once')
    const install = (from: string, headers = {}) =>
      read('/api/v1/skills/alice%2Fonce/archive', { 'x-forwarded-for': from, 'x-skillstead-install': '1', ...headers })
    await install('192.0.2.1', { authorization: `Bearer ${node.key}` })
    expect((await countsOf('once')).downloads).toBe(0)
    for (let i = 0; i < 3; i++) await install('192.0.2.1')
    await read('/alice/once/.well-known/agent-skills/once-1.0.0.zip')
    expect(await countsOf('once')).toEqual(installedBy('cli'))
    await install('192.0.2.2')
    expect(await countsOf('once')).toMatchObject({ installs: 2, downloads: 2 })
    await read('/api/v1/skills/alice%2Fonce/archive', { 'x-forwarded-for': '192.0.2.3', 'x-skills-update-check': '1' })
    expect(await countsOf('once')).toMatchObject({ installs: 2, downloads: 2 })
  })

  it('is defined for every gateway', () => {
    for (const name of gatewayNames) expect(Object.keys(countedAs)).toContain(name)
  })
})
