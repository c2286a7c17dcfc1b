import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, inject, onTestFinished, test } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { browse, describeBrowser, goWithin } from '../support/browser-harness.ts'
import { ensureBuilt, settle } from '../support/browser-windows.ts'
import { startIssuer } from '../support/ci-issuer.ts'
import { makeFolder, skillstead, startServer } from '../support/cli-harness.ts'
import { clientSecret, startProvider } from '../support/identity-node.ts'
import { isLong } from '../support/long.ts'
import { makeEmptyPlace, type DialectName } from '../support/places.ts'

/** The walk is the same on both databases, of which the errors of PostgreSQL are the stricter: long runs take both. */
const dialects: readonly DialectName[] =
  inject('postgresUrl') === null ? ['SQLite'] : isLong ? ['SQLite', 'PostgreSQL'] : ['PostgreSQL']

/** A fresh node that the operator starts with the settings of docs/sign-in.md, and an issuer of tokens for CI jobs. */
async function startCompany(dialect: DialectName) {
  await ensureBuilt()
  const [folder, place] = [await makeFolder(), await makeEmptyPlace(dialect)]
  const [provider, ci] = [await startProvider(), await startIssuer()]
  const secret = join(folder, 'secret')
  await writeFile(secret, clientSecret, { mode: 0o600 })
  const { databaseUrl } = place.location
  const settings = {
    'allow-networks': '127.0.0.0/8',
    'sign-in-issuer': provider.issuer,
    'sign-in-client': 'skillstead',
    'sign-in-secret-file': secret,
    'sign-in-groups': 'skill-admins=administrators,leads=acme:owner,quality=acme:reviewer,staff=acme:reader',
    'local-sign-in': 'off',
    ...(databaseUrl ? { 'database-url': databaseUrl } : { data: join(folder, 'data') }),
  }
  const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  const command = ['serve', '--port', '0', ...options]
  const secretKey = { SKILLSTEAD_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
  const server = await startServer(command, { env: databaseUrl ? secretKey : {} })
  provider.serve(server.url)
  onTestFinished(async () => {
    await server.stop()
    await place.remove()
  })
  /** The browser of a person, on a page to which the sign-in leads. */
  async function signIn(
    subject: string,
    member: readonly string[],
    path: string,
    expectedStatuses: readonly number[] = [],
  ): Promise<Page> {
    provider.expectUser(subject, { groups: member })
    const next = encodeURIComponent(path)
    const page = await browse(server.url, `/account/sign-in?next=${next}`, {
      leadsTo: provider.issuer,
      isOwn: true,
      expectedStatuses,
    })
    await page.getByRole('button', { name: /^Sign in with / }).click()
    await page.getByRole('button', { name: `Menu of ${subject}` }).waitFor()
    await settle(page)
    return page
  }
  const run = (words: readonly string[], env: Record<string, string> = {}, cwd = folder) =>
    skillstead([...words, '--url', server.url], { env, cwd })
  return { folder, provider, ci, url: server.url, signIn, run }
}

/** Makes a key on the page of keys, and reads it there. */
async function makeKey(page: Page): Promise<string> {
  await goWithin(page, '/account/keys')
  await page.getByText('Create a key').click()
  await page.getByLabel('Name', { exact: true }).fill('laptop')
  await page.getByRole('button', { name: 'Create key' }).click()
  return page.getByRole('region', { name: 'The new key' }).locator('code').innerText()
}

describeBrowser('a new company', () => {
  test.each(dialects)(
    'signs in with groups, sets rules, publishes from CI, approves, installs, and disables a user who leaves (%s)',
    async (dialect) => {
      const { folder, provider, ci, url, signIn, run } = await startCompany(dialect)

      // The first member of the group makes the organisation.
      const boss = await signIn('boss', ['skill-admins', 'leads'], '/organisations/acme')
      await boss.getByText('your role: owner').waitFor()
      await goWithin(boss, '/organisations/acme/rules')
      await boss.getByLabel('Approvals before').fill('1')
      await boss.getByLabel('Licences').fill('MIT')
      await boss.getByRole('button', { name: 'Preview' }).click()
      await boss.getByRole('button', { name: 'Save these rules' }).click()
      await boss.getByText('Saved. The rules apply').waitFor()

      await goWithin(boss, '/organisations/acme/ci')
      await boss.getByText('Trust CI jobs').click()
      await boss.getByLabel('Jobs of').selectOption('Another issuer')
      await boss.getByLabel('Issuer').fill(ci.url)
      await boss.getByLabel('Claims').fill('repository=acme/skills\nref=refs/heads/main')
      await boss.getByRole('button', { name: 'Trust these jobs' }).click()
      await boss.getByRole('row', { name: /all of acme.*repository: acme\/skills/s }).waitFor()

      // The repository has a skill with a licence that the rules allow, and one with another.
      for (const [name, license] of Object.entries({ notes: 'MIT', drafts: 'Proprietary' })) {
        await mkdir(join(folder, 'skills', name), { recursive: true })
        const file = join(folder, 'skills', name, 'SKILL.md')
        await writeFile(file, skillMd(name).replace('\n---\n', `\nlicense: ${license}\n---\n`))
      }
      const publish = (claims = {}) =>
        run(['publish', '--all', 'skills', '--organisation', 'acme', '--visibility', 'private'], {
          SKILLSTEAD_ID_TOKEN: ci.token({ aud: url, ...claims }),
        })
      const fork = await publish({ repository: 'stranger/skills' })
      expect([fork.code, fork.stderr]).toEqual([1, expect.stringContaining('repository is stranger/skills')])
      const published = await publish()
      expect(published.code).toBe(1)
      expect(published.stdout + published.stderr).toContain('quarantined acme/notes@1.0.0')
      expect(published.stdout + published.stderr).toMatch(/drafts.*Proprietary/)

      const ben = await signIn('ben', ['staff'], '/skills/acme/notes', [401, 403, 404])
      await ben.getByRole('alert').waitFor()
      const anna = await signIn('anna', ['quality'], '/account/reviews')
      await anna.getByRole('link', { name: 'acme/notes' }).click()
      await anna.getByRole('button', { name: 'Approve' }).click()
      await anna.waitForURL('**/skills/acme/notes')
      await anna.getByRole('link', { name: 'Provenance' }).click()
      await anna.getByText('ref refs/heads/main, repository acme/skills').waitFor()

      // Only members of the organisation see the skill.
      await goWithin(boss, '/skills/acme/notes/manage')
      await boss.getByText('Details and visibility').click()
      await boss.getByLabel('Visibility').selectOption('Internal: members of acme')
      await boss.getByRole('button', { name: 'Save' }).click()
      await boss.getByText('Saved.').waitFor()
      const other = await signIn('other', [], '/account')
      const install = async (key: string) => run(['install', 'acme/notes', '--key', key])
      expect((await install(await makeKey(other))).code).toBe(1)
      const key = await makeKey(ben)
      const installed = await install(key)
      expect([installed.code, installed.stderr]).toEqual([0, ''])
      const file = join(folder, '.agents/skills/notes/SKILL.md')
      expect(await readFile(file, 'utf8')).toContain('license: MIT')

      // Ben leaves: his session and his key end, and the provider cannot sign him in again.
      await goWithin(boss, '/admin/users')
      const row = boss.getByRole('row', { name: /^ben / })
      await row.getByRole('button', { name: 'Disable' }).click()
      await boss.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
      await row.getByText('disabled', { exact: true }).waitFor()
      const refused = await install(key)
      expect([refused.code, refused.stdout + refused.stderr]).toEqual([1, expect.stringMatching(/key/i)])
      await goWithin(ben, '/account/skills')
      await ben.getByRole('heading', { name: 'Sign in required' }).waitFor()
      provider.expectUser('ben', { groups: ['staff'] })
      await ben.goto(`${url}/login`)
      await ben.getByText('is disabled on this node').waitFor()

      await goWithin(boss, '/admin/audit')
      for (const words of [
        /the node created an organisation acme/,
        /boss added CI jobs that publish acme/,
        /the node gave a key to a CI job acme/,
        /anna reviewed a quarantined version acme\/notes@1\.0\.0/,
        /boss changed a user ben/,
        /the node refused a user by the identity provider/,
      ])
        await boss.getByRole('row', { name: words }).first().waitFor()
    },
    120_000,
  )
})
