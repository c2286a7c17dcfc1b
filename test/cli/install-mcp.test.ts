import { chmod, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RegistryApi } from '@skillstead/protocol'
import { describe, expect, it } from 'vitest'
import { makeProject, type InstalledAnswer, type Project } from '../support/install-harness.ts'
import { startNode } from '../support/server-harness.ts'

const schema = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json'
const program = {
  type: 'stdio',
  command: './bin/server',
  args: ['--root', '${PLUGIN_ROOT}'],
  env: { A: '${PLUGIN_ROOT}/a' },
}
const shown = 'tickets (stdio ./bin/server --root ${PLUGIN_ROOT}; env A)'
const remote = { type: 'streamable-http', url: 'https://api.acme.dev/mcp', headers: { 'X-Tenant': 'public' } }
const remoteEntry = { type: 'http', url: 'https://api.acme.dev/mcp', headers: { 'X-Tenant': 'public' } }

function entryOf(folder: string) {
  const env = { A: `${folder}/a`, PLUGIN_ROOT: folder }
  return { type: 'stdio', command: `${folder}/bin/server`, args: ['--root', folder], env }
}

function publish(api: RegistryApi, name: string, version: string, mcpServers: object) {
  return api.publishSkill({
    skillMd: `---\nname: ${name}\ndescription: Reads the ${name} of a tracker.\n---\nIt lists the open ones.\n`,
    version,
    files: [
      { path: 'mcp.json', content: JSON.stringify({ $schema: schema, mcpServers }) },
      { path: 'bin/server', content: '#!/bin/sh\nexit 0\n', executable: true },
    ],
  })
}

async function startWith(mcpServers: object = { tickets: program, api: remote }) {
  const { api, node } = await startNode()
  await publish(api, 'tickets', '1.0.0', mcpServers)
  const project = await makeProject()
  const install = (...args: string[]) => project.run('install', ...args, '--url', node.url)
  return { api, node, project, install }
}

const fileOf = ({ folder }: Project) => join(folder, '.mcp.json')
const readServers = async (project: Project) =>
  (JSON.parse(await readFile(fileOf(project), 'utf8')) as { mcpServers: Record<string, unknown> }).mcpServers

describe('install', () => {
  it('writes no MCP servers without --with-mcp, but names the option and the MCP servers of the skill', async () => {
    const { project, install, node } = await startWith()
    const installed = await install('tickets')
    expect(installed.stdout).toBe(
      'Installed alice/tickets@1.0.0 in .agents/skills/tickets.\n' +
        `The MCP servers of alice/tickets are not in .mcp.json, or differ there: ${shown}, ` +
        'api (streamable-http api.acme.dev). To write them: skillstead install alice/tickets --with-mcp\n',
    )
    expect(Object.keys(await project.files()).filter((path) => path.endsWith('mcp.json'))).toEqual([
      '.agents/skills/tickets/mcp.json',
    ])
    expect(await readFile(join(project.folder, 'skills.lock'), 'utf8')).not.toContain('"mcp"')
    const answer = await project.json<InstalledAnswer & { mcp: unknown }>(
      'install',
      'tickets',
      '--force',
      '--url',
      node.url,
    )
    expect(answer.mcp).toEqual([])
  })

  it('writes MCP servers with --with-mcp, with paths of the installed folder, and keeps the rest of .mcp.json', async () => {
    const { project, install } = await startWith()
    await writeFile(fileOf(project), '{\n\t"$comment": 1,\n\t"mcpServers": {\n\t\t"own": { "command": "own" }\n\t}\n}')
    await chmod(fileOf(project), 0o600)
    const installed = await install('tickets', '--with-mcp')
    expect([installed.code, installed.stderr]).toEqual([0, ''])
    expect(installed.stdout).toContain(
      `.mcp.json has the MCP servers of alice/tickets: ${shown}, api (streamable-http api.acme.dev). ` +
        'Claude Code asks before it starts them.\n',
    )
    const text = await readFile(fileOf(project), 'utf8')
    expect(JSON.parse(text)).toEqual({
      $comment: 1,
      mcpServers: { own: { command: 'own' }, tickets: entryOf('./.agents/skills/tickets'), api: remoteEntry },
    })
    expect(text).toMatch(/^\{\n\t"/)
    expect((await stat(fileOf(project))).mode & 0o777).toBe(0o600)
    expect((await stat(join(project.folder, '.agents/skills/tickets/bin/server'))).mode & 0o100).toBe(0o100)
    // Again, it changes nothing.
    const before = await project.files()
    expect((await install('tickets', '--with-mcp')).code).toBe(0)
    expect(await project.files()).toEqual(before)
  })

  it.each([
    ['CRLF', '{\r\n  "mcpServers": {}\r\n}\r\n', /^\{\r\n  "mcpServers": \{\r\n {4}"tickets"[^]*\}\r\n\}\r\n$/],
    [
      'CRLF and tabs, without a last line end',
      '{\r\n\t"own": "a\\nb",\r\n\t"mcpServers": {}\r\n}',
      /^\{\r\n\t"own": "a\\nb",\r\n[^]*\}$/,
    ],
    ['LF and four spaces', '{\n    "mcpServers": {}\n}\n', /^\{\n {4}"mcpServers": \{\n {8}"tickets"[^]*\}\n$/],
    ['one line', '{"mcpServers": {}}', /^\{\n  "mcpServers": \{[^]*\}$/],
  ])('keeps the line ends and the indentation of a .mcp.json with %s', async (_, before, after) => {
    const { project, install } = await startWith()
    await writeFile(fileOf(project), before)
    expect((await install('tickets', '--with-mcp')).code).toBe(0)
    const text = await readFile(fileOf(project), 'utf8')
    expect(text).toMatch(after)
    expect(text.includes('\r')).toBe(before.includes('\r'))
    expect(text.replaceAll('\r\n', ''), 'no line end of another kind').not.toMatch(before.includes('\r') ? /\n/ : /\r/)
    expect((await project.run('remove', 'tickets')).code).toBe(0)
    expect(JSON.parse(await readFile(fileOf(project), 'utf8'))).toEqual(JSON.parse(before))
    expect((await readFile(fileOf(project), 'utf8')).includes('\r')).toBe(before.includes('\r'))
  })

  it('writes the MCP servers of a skill that is already installed, even without the cache', async () => {
    const { project, install } = await startWith()
    await install('tickets', '--agent', 'universal,claude-code')
    await rm(join(project.home, '.cache'), { recursive: true })
    const written = await install('tickets', '--with-mcp')
    expect(written.stdout).toContain('.mcp.json has the MCP servers of alice/tickets')
    expect(await readServers(project)).toEqual({ tickets: entryOf('./.claude/skills/tickets'), api: remoteEntry })
  })

  it.each([
    [
      'another server of the name',
      JSON.stringify({ mcpServers: { api: { type: 'http', url: 'https://other.dev' } } }),
      "another MCP server 'api'",
    ],
    ['text that is not JSON', '// servers\n{}', 'it is not JSON'],
    ['a list', '[]', 'it is not an object'],
    ['a list of servers', '{"mcpServers": []}', 'it is not an object'],
    ['null for servers', '{"mcpServers": "x"}', 'it is not an object'],
    ['a key twice', '{"mcpServers": {"a": {}, "a": {}}}', 'The key "a" occurs twice'],
    ['deep JSON', '['.repeat(5000), 'nests deeper'],
    ['a byte order mark', '\uFEFF{}', 'it is not JSON'],
    ['a large file', ' '.repeat(1024 * 1024 + 1), 'larger than 1 MiB'],
  ])('changes nothing if .mcp.json has %s', async (_, text, words) => {
    const { project, install } = await startWith()
    await writeFile(fileOf(project), text)
    const refused = await install('tickets', '--with-mcp')
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain(words)
    expect(refused.stderr).toContain('Nothing was changed.')
    expect(Object.keys(await project.files())).toEqual(['.mcp.json'])
    expect(await readFile(fileOf(project), 'utf8')).toBe(text)
    expect((await install('tickets')).code).toBe(0)
  })

  it('keeps other keys of .mcp.json, even __proto__, and follows no link out of the project', async () => {
    const { project, install } = await startWith({ api: remote })
    const text = '{"__proto__": {"a": 1}, "mcpServers": {"__proto__": {"command": "x"}}}'
    await writeFile(fileOf(project), text)
    await install('tickets', '--with-mcp')
    expect(Object.keys(await readServers(project))).toEqual(['__proto__', 'api'])
    expect(await readFile(fileOf(project), 'utf8')).toContain('"a": 1')
    const other = join(project.home, 'secret.json')
    await writeFile(other, '{}')
    await rm(fileOf(project))
    await symlink(other, fileOf(project))
    const refused = await install('tickets', '--with-mcp')
    expect(refused.stderr).toContain('it is not a file')
    expect(await readFile(other, 'utf8')).toBe('{}')
  })

  it.each([
    ['a working directory', { ...program, cwd: './bin' }, 'needs a working directory (cwd)'],
    ['a folder for data', { ...program, args: ['${PLUGIN_DATA}/x'] }, 'needs a folder for its data'],
    ['a folder for data in a variable', { ...program, env: { D: '${PLUGIN_DATA}' } }, 'needs a folder for its data'],
  ])('refuses --with-mcp for a server that needs %s', async (_, server, words) => {
    const { project, install } = await startWith({ tickets: server })
    const refused = await install('tickets', '--with-mcp')
    expect([refused.code, await project.files()]).toEqual([1, {}])
    expect(refused.stderr).toContain(words)
    expect((await install('tickets')).stdout).toContain('tickets (stdio ./bin/server ')
  })

  it('refuses --with-mcp for a folder whose name contains a placeholder that a client would expand', async () => {
    const { project, install } = await startWith()
    const refused = await install('tickets', '--with-mcp', '--dir', 'a${TOKEN}')
    expect([refused.code, await project.files()]).toEqual([1, {}])
    expect(refused.stderr).toContain('a folder without placeholders (a${TOKEN}/tickets)')
  })

  it('refuses --with-mcp without names of skills, and with --global', async () => {
    const { install } = await startWith()
    expect(await install('--with-mcp')).toMatchObject({ code: 2, stderr: expect.stringContaining('needs the names') })
    const forUser = await install('tickets', '--with-mcp', '--global')
    expect(forUser).toMatchObject({ code: 2, stderr: expect.stringContaining('without --global') })
  })

  it('does not write skills.lock if the servers of two skills have the same name', async () => {
    const { api, project, install } = await startWith()
    await publish(api, 'issues', '1.0.0', { tickets: program })
    const refused = await install('tickets', 'issues', '--with-mcp')
    expect(refused.stderr).toContain("another MCP server 'tickets'")
    expect(await project.files()).toEqual({})
  })
})

describe('update', () => {
  it('writes no MCP servers, but names changed servers, which install --with-mcp replaces or removes', async () => {
    const { api, project, install } = await startWith()
    await install('tickets', '--with-mcp')
    const before = await readServers(project)
    const changed = { ...program, args: ['--new'] }
    await publish(api, 'tickets', '1.1.0', { tickets: changed, more: remote })
    const updated = await project.run('update')
    expect(updated.stdout).toContain(
      'tickets (stdio ./bin/server --new; env A), more (streamable-http api.acme.dev), api (no longer in the skill)',
    )
    expect(await readServers(project)).toEqual(before)
    expect((await install('tickets', '--with-mcp')).code).toBe(0)
    const { args: _, ...entry } = entryOf('./.agents/skills/tickets')
    expect(await readServers(project)).toEqual({ tickets: { ...entry, args: ['--new'] }, more: remoteEntry })
    await publish(api, 'tickets', '1.2.0', { tickets: changed, more: remote })
    await publish(api, 'tickets', '1.3.0', {})
    expect((await install('tickets@1.2.0')).stdout).not.toContain('MCP')
  })

  it('does not replace a server entry that the user changed after the install', async () => {
    const { api, project, install } = await startWith()
    await install('tickets', '--with-mcp')
    const servers = { ...(await readServers(project)), tickets: { type: 'stdio', command: 'own' } }
    await writeFile(fileOf(project), JSON.stringify({ mcpServers: servers }))
    await publish(api, 'tickets', '1.1.0', { tickets: { ...program, args: [] } })
    const refused = await install('tickets', '--with-mcp')
    expect(refused.stderr).toContain("another MCP server 'tickets'")
    expect(await readServers(project)).toEqual(servers)
    expect((await project.files())['skills.lock']).toContain('"version": "1.0.0"')
  })
})

describe('remove', () => {
  it('removes the server entries that install wrote, and leaves changed and other entries', async () => {
    const { project, install } = await startWith()
    await writeFile(fileOf(project), '{"mcpServers": {"own": {"command": "own"}}}')
    await install('tickets', '--with-mcp')
    const servers = await readServers(project)
    await writeFile(
      fileOf(project),
      JSON.stringify({ mcpServers: { ...servers, api: { ...remoteEntry, timeout: 1 } } }),
    )
    const removed = await project.run('remove', 'tickets')
    expect([removed.code, removed.stdout]).toEqual([
      0,
      'Removed alice/tickets@1.0.0 from .agents/skills/tickets.\n' +
        "Left the MCP server 'api' in .mcp.json: it was changed, or another skill has it too.\n",
    ])
    expect(await readServers(project)).toEqual({ own: { command: 'own' }, api: { ...remoteEntry, timeout: 1 } })
  })

  it('keeps a server entry that another installed skill has, until both skills are removed', async () => {
    const { api, project, install } = await startWith({ api: remote })
    await publish(api, 'issues', '1.0.0', { api: remote })
    await install('tickets', 'issues', '--with-mcp')
    await project.run('remove', 'tickets')
    expect(await readServers(project)).toEqual({ api: remoteEntry })
    await install('tickets', '--with-mcp')
    expect((await project.run('remove', 'tickets', 'issues')).code).toBe(0)
    expect(await readServers(project)).toEqual({})
  })

  it('leaves .mcp.json unchanged if install wrote no servers, and fails if .mcp.json cannot be read', async () => {
    const { project, install } = await startWith()
    await install('tickets')
    const text = JSON.stringify({ mcpServers: { tickets: entryOf('./.agents/skills/tickets'), api: remoteEntry } })
    await writeFile(fileOf(project), text)
    expect((await project.run('remove', 'tickets')).code).toBe(0)
    expect(await readFile(fileOf(project), 'utf8')).toBe(text)
    await install('tickets', '--with-mcp')
    await writeFile(fileOf(project), 'text')
    const refused = await project.run('remove', 'tickets')
    expect(refused.stderr).toContain('it is not JSON')
    expect((await project.files())['.agents/skills/tickets/SKILL.md']).toBeDefined()
    await rm(fileOf(project))
    expect((await project.run('remove', 'tickets')).code).toBe(0)
    expect(Object.keys(await project.files())).toEqual(['skills.lock'])
  })
})

it('a skills.lock with invalid server names or digests is refused', async () => {
  const { project, install } = await startWith()
  await install('tickets', '--with-mcp')
  const lock = (await project.files())['skills.lock']!
  const digest = /"api": "(?<digest>sha256:\w+)"/.exec(lock)!.groups!['digest']!
  for (const wrong of [
    lock.replace('"api"', '"../api"'),
    lock.replace(digest, 'none'),
    lock.replace('"api"', '"__proto__"'),
  ]) {
    await writeFile(join(project.folder, 'skills.lock'), wrong)
    expect((await project.run('list')).stderr).toContain('its MCP servers are invalid')
  }
})
