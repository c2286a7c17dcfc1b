import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson, startServer } from '../support/cli-harness.ts'
import { clientSecret, startProvider } from '../support/identity-node.ts'

const document = readFileSync(join(import.meta.dirname, '../../docs/sign-in.md'), 'utf8')
const settings = /```toml\n([^]*?)```/.exec(document)![1]!

it('a new node with the five settings in the documentation signs in users with their groups', async () => {
  const folder = await makeFolder()
  const [data, config, secret] = ['data', 'skillstead.toml', 'secret'].map((name) => join(folder, name))
  const provider = await startProvider()
  const changed: Record<string, string> = { 'sign-in-issuer': provider.issuer, 'sign-in-secret-file': secret! }
  const lines = settings.split('\n').filter((line) => line !== '' && !/^#|^public-url/.test(line))
  expect(lines).toHaveLength(5)
  const own = lines.map((line) => {
    const [name = ''] = line.split(' = ')
    return name in changed ? `${name} = ${JSON.stringify(changed[name])}` : line
  })
  await writeFile(config!, own.join('\n'))
  await writeFile(secret!, `${clientSecret}\n`, { mode: 0o600 })
  const server = await startServer(['serve', '--port', '0', '--data', data!, '--config', config!])
  provider.serve(server.url)
  const boss = await provider.signIn(server.url, 'boss', { groups: ['skill-admins'] })
  expect(await boss.whoAmI()).toBe('boss')
  expect((await boss.call('/api/v1/users')).status).toBe(200)
  const alice = await provider.signIn(server.url, 'alice', { groups: ['engineering', 'ml'] })
  const response = await alice.call('/api/v1/organisations/acme/members')
  expect(await response.json()).toMatchObject({ members: [{ username: 'alice', role: 'publisher' }] })
  const key = await skillsteadJson<{ key: string }>(['users', 'key', 'alice', '--data', data!])
  const local = await fetch(`${server.url}/api/v1/session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.key}` },
  })
  expect(local.status).toBe(403)
  expect(await server.stop()).toBe(0)
  // The registry needs no settings of the sign-in to be opened again.
  const doctor = await skillstead(['doctor', '--data', data!, '--deep'])
  expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining('keys')])
})

const issuer = ['--sign-in-issuer', 'https://login.example.com']
const client = ['--sign-in-client', 'skillstead']

it.each([
  [issuer, 'Pass both --sign-in-issuer and --sign-in-client'],
  [client, 'Pass both --sign-in-issuer and --sign-in-client'],
  [['--local-sign-in', 'off'], 'needs --sign-in-issuer'],
  [['--sign-in-issuer', 'http://login.example.com', ...client], 'The issuer must be'],
  [[...issuer, ...client, '--sign-in-groups', 'eng=acme'], 'is not a rule for a group'],
  [[...issuer, ...client, '--sign-in-secret-file', '/does/not/exist'], '/does/not/exist'],
  [[...issuer, ...client, '--network', 'offline'], '--network offline'],
])('`serve` refuses the sign-in settings %j', async (given, text) => {
  const data = join(await makeFolder(), 'data')
  const { code, stderr } = await skillstead(['serve', '--port', '0', '--data', data, ...given])
  expect([code, stderr]).toEqual([2, expect.stringContaining(text)])
})
