import { describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { fetchObjects, listRefs, readBlobTexts } from '../support/git-client.ts'
import { asClient, callTool, startMcp } from '../support/mcp-harness.ts'
import { startNode } from '../support/server-harness.ts'

const reason = 'It sends files to a stranger.'

/** A node with three versions of `alice/tool`, of which a pack pins the second. */
async function start() {
  const fixture = await startNode()
  const { api, node } = fixture
  for (const version of ['1.0.0', '1.1.0', '2.0.0'])
    await api.publishSkill({ skillMd: skillMd('tool', { body: `Version ${version}.` }), version })
  await api.createPack({ name: 'Kit', description: '', skills: [{ name: 'alice/tool', version: '1.1.0' }] })
  const get = async (path: string) => {
    const response = await fetch(node.url + path, { redirect: 'manual' })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
  const recall = (range: string) => api.recallSkill({ name: 'alice/tool', range, reason })
  return { ...fixture, get, recall, repository: `${node.url}/git/alice/tool.git` }
}

describe('a recalled version', () => {
  it.each([
    ['the API', '/api/v1/skills/alice%2Ftool/archive?version=2.0.0'],
    ['npm, its manifest', '/npm/@alice/tool/2.0.0'],
    ['npm, its tarball', '/npm/@alice/tool/-/tool-2.0.0.tgz'],
    ['APM', '/apm/v1/packages/alice/tool/versions/2.0.0/download'],
    ['OCI, its manifest', '/v2/alice/tool/manifests/2.0.0'],
    ['clawhub, its archive', '/clawhub/api/v1/download?slug=tool&ownerHandle=alice&version=2.0.0'],
    ['clawhub, a file', '/clawhub/api/v1/skills/tool/file?path=SKILL.md&version=2.0.0&ownerHandle=alice'],
    ['discovery', '/alice/.well-known/agent-skills/tool-2.0.0.md'],
    ['marketplaces', '/alice/.claude-plugin/tool-2.0.0.zip'],
    ['an index of the version', '/alice/tool@2.0.0/.well-known/agent-skills/index.json'],
  ])('is refused with 410 and the reason, and served again when the recall ends: %s', async (_what, path) => {
    const { api, get, node, recall } = await start()
    const before = await get(path)
    expect(before.status).toBe(200)
    const { id } = await recall('2.x')
    const refused = await get(path)
    expect(refused.status).toBe(410)
    expect(refused.text).toContain(reason)
    const etag = before.headers.get('etag')
    // Also to a client that has the content, which it must not use any more.
    const headers = { 'if-none-match': etag ?? '*' }
    expect((await fetch(node.url + path, { headers, redirect: 'manual' })).status).toBe(410)
    await api.endRecall({ name: 'alice/tool', id })
    const again = await get(path)
    expect([again.status, again.text === before.text, again.headers.get('etag')]).toEqual([200, true, etag])
  })

  it('is in no list, and is not the latest version', async () => {
    const { get, recall } = await start()
    await recall('2.x')
    const npm = JSON.parse((await get('/npm/@alice/tool')).text)
    expect([npm['dist-tags'].latest, Object.keys(npm.versions).toSorted()]).toEqual(['1.1.0', ['1.0.0', '1.1.0']])
    expect(JSON.parse((await get('/v2/alice/tool/tags/list')).text).tags).toEqual(['1.0.0', '1.1.0', 'latest'])
    const clawhub = JSON.parse((await get('/clawhub/api/v1/skills/tool/versions?ownerHandle=alice')).text)
    expect(clawhub.items.map(({ version }: { version: string }) => version)).toEqual(['1.1.0', '1.0.0'])
    for (const path of ['/alice/.well-known/agent-skills/index.json', '/alice/.claude-plugin/marketplace.json']) {
      const { text } = await get(path)
      expect(text).toContain('1.1.0')
      expect(text).not.toContain('2.0.0')
    }
  })

  it('is left out of a pack that pins it', async () => {
    const { get, recall } = await start()
    const path = '/packs/kit/.claude-plugin/marketplace.json'
    expect((await get(path)).text).toContain('1.1.0')
    await recall('1.1.0')
    expect((await get(path)).text).not.toContain('1.1.0')
    expect((await get('/packs/kit/.claude-plugin/alice/tool-1.1.0.zip')).status).toBe(410)
  })

  it('fails the verification that ClawHub clients request', async () => {
    const { get, recall } = await start()
    const path = '/clawhub/api/v1/skills/tool/verify?version=2.0.0&ownerHandle=alice'
    expect(JSON.parse((await get(path)).text).decision).toBe('pass')
    await recall('2.x')
    expect(JSON.parse((await get(path)).text)).toMatchObject({ ok: false, decision: 'fail', reasons: ['recalled'] })
  })

  it('has neither a tag nor a commit in git, even for a client that knows the id of the commit', async () => {
    const { api, recall, repository } = await start()
    const before = await listRefs(repository)
    const { id } = await recall('1.1.0')
    const refs = await listRefs(repository)
    expect(Object.keys(refs)).not.toContain('refs/tags/v1.1.0')
    expect(refs['refs/tags/v1.0.0']).toBe(before['refs/tags/v1.0.0'])
    const texts = readBlobTexts(await fetchObjects(repository, [refs.HEAD!]))
    expect(texts.join()).toContain('Version 2.0.0.')
    expect(texts.join()).not.toContain('Version 1.1.0.')
    await expect(fetchObjects(repository, [before['refs/tags/v1.1.0^{}']!])).rejects.toThrow(
      /not our ref|unknown|refused|400|4\d\d/i,
    )
    await api.endRecall({ name: 'alice/tool', id })
    expect(await listRefs(repository)).toEqual(before)
  })

  it('is refused to agents over MCP, which have no option to accept it', async () => {
    const { recall, registry } = await start()
    await recall('2.x')
    const mcp = await startMcp(registry)
    const client = asClient(await mcp.connect('auto'))
    expect(JSON.stringify(await callTool(client, 'load_skill', { name: 'alice/tool' }))).toContain('Version 1.1.0.')
    for (const more of [{}, { allowRecalled: true }]) {
      const answer = await callTool(client, 'load_skill', { name: 'alice/tool', version: '2.0.0', ...more })
      expect(JSON.stringify(answer)).not.toContain('Version 2.0.0.')
    }
  })
})
