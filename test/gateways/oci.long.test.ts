import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'
import { startNode } from '../support/server-harness.ts'
import { describeSkopeo, runSkopeo } from '../support/skopeo.ts'

const skillMd = (name: string) => `---\nname: ${name}\ndescription: Reads files\nlicense: MIT\n---\n# ${name}\n`

/** A node with `alice/tables` in two versions, and a folder in which Skopeo runs. */
async function startWithTables() {
  const fixture = await startNode()
  for (const version of ['1.0.0', '1.1.0']) {
    const files = [
      { path: 'scripts/sub/read.py', content: `print("${version}")\n` },
      { path: 'data.bin', content: Buffer.alloc(300_000, version).toString('base64'), encoding: 'base64' as const },
    ]
    await fixture.api.publishSkill({ skillMd: skillMd('tables'), version, files })
  }
  const folder = await makeFolder()
  const host = fixture.node.url.replace('http://', 'docker://')
  return { ...fixture, folder, host, skopeo: (...args: string[]) => runSkopeo(folder, args) }
}

const raw = ['inspect', '--raw', '--tls-verify=false']
const copy = ['copy', '--src-tls-verify=false', '--preserve-digests']

describeSkopeo('Skopeo', () => {
  it('lists the tags of a skill', async () => {
    const { api, host, skopeo } = await startWithTables()
    await api.yankVersion({ name: 'alice/tables', version: '1.1.0' })
    const { stdout } = await skopeo('list-tags', '--tls-verify=false', `${host}/alice/tables`)
    expect(JSON.parse(stdout)).toMatchObject({ Tags: ['1.0.0', 'latest'] })
  })

  it('copies a skill as a guest, by tag and by digest, and tar unpacks its files', async () => {
    const { folder, host, skopeo } = await startWithTables()
    const manifest = (await skopeo(...raw, `${host}/alice/tables:1.0.0`)).stdout
    const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`
    for (const [reference, target] of [
      [':1.0.0', 'tag'],
      [`@${digest}`, 'digest'],
    ] as const) {
      const copied = await skopeo(...copy, `${host}/alice/tables${reference}`, `dir:${target}`)
      expect(copied, copied.stderr).toMatchObject({ code: 0 })
      expect(await readFile(join(folder, target, 'manifest.json'), 'utf8')).toBe(manifest)
    }
    const [layer] = (JSON.parse(manifest) as { layers: [{ digest: string }] }).layers
    execFileSync('tar', ['-xzf', join('tag', layer.digest.slice('sha256:'.length))], { cwd: folder })
    expect((await readdir(join(folder, 'tables'))).toSorted()).toEqual(['SKILL.md', 'data.bin', 'scripts'])
    expect(await readFile(join(folder, 'tables/SKILL.md'), 'utf8')).toBe(skillMd('tables'))
    expect(await readFile(join(folder, 'tables/scripts/sub/read.py'), 'utf8')).toBe('print("1.0.0")\n')
  })

  it('copies the latest version to an OCI layout', async () => {
    const { folder, host, skopeo } = await startWithTables()
    const copied = await skopeo(...copy, `${host}/alice/tables`, 'oci:layout:latest')
    expect(copied, copied.stderr).toMatchObject({ code: 0 })
    const manifest = (await skopeo('inspect', '--raw', 'oci:layout:latest')).stdout
    expect(JSON.parse(manifest)).toMatchObject({
      artifactType: 'application/vnd.agentskills.skill.v1',
      annotations: { 'org.opencontainers.image.version': '1.1.0' },
    })
    expect(await readdir(join(folder, 'layout/blobs/sha256'))).toHaveLength(3)
  })

  it('needs an API key or a share token for a private skill', async () => {
    const { api, host, key, skopeo } = await startWithTables()
    await api.publishSkill({ skillMd: skillMd('secret'), version: '1.0.0', visibility: 'private' })
    const { token } = await api.createShare({ name: 'alice/secret' })
    for (const password of [key, token!]) {
      const copied = await skopeo(...copy, `--src-creds=any:${password}`, `${host}/alice/secret`, `dir:${password}`)
      expect(copied, copied.stderr).toMatchObject({ code: 0 })
    }
    const answers = []
    for (const name of ['secret', 'absent']) {
      const { code, stderr } = await skopeo(...raw, `${host}/alice/${name}`)
      answers.push({ code, message: stderr.replace(/^time="[^"]*"/, '').replaceAll(name, 'NAME') })
    }
    expect(answers[0]).toMatchObject({ code: 1, message: expect.stringContaining('There is no such public skill.') })
    expect(answers[0]).toEqual(answers[1])
    const wrong = await skopeo(...raw, '--creds=any:ssk_wrong', `${host}/alice/tables`)
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('This API key is not valid.') })
  })

  it('signs in only with a valid key', async () => {
    const { host, key, skopeo } = await startWithTables()
    const login = (password: string) =>
      skopeo('login', '--tls-verify=false', '-u', 'any', '-p', password, '--authfile=auth.json', host.slice(9))
    expect(await login('ssk_wrong')).toMatchObject({ code: 1 })
    expect(await login(key)).toMatchObject({ code: 0, stdout: 'Login Succeeded!\n' })
  })

  it('gets an error that explains why it cannot push', async () => {
    const { host, key, skopeo } = await startWithTables()
    await skopeo(...copy, `${host}/alice/tables`, 'dir:tables')
    const options = ['--dest-tls-verify=false', `--dest-creds=any:${key}`]
    const pushed = await skopeo('copy', ...options, 'dir:tables', `${host}/alice/tables:2.0.0`)
    expect(pushed.code).toBe(1)
    expect(pushed.stderr).toContain('Artifacts here are read-only.')
  })
})
