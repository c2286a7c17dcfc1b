import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { toChildEnvironment } from '../support/child-environment.ts'
import { startExchangingNode } from '../support/ci-issuer.ts'
import { type Finished, mainFile, makeFolder, skillstead } from '../support/cli-harness.ts'

type Exchanging = Awaited<ReturnType<typeof startExchangingNode>>

/** A folder `skills` with a skill for each name. */
async function makeSkills(...names: string[]): Promise<string> {
  const folder = await makeFolder()
  for (const name of names) {
    await mkdir(join(folder, 'skills', name), { recursive: true })
    await writeFile(join(folder, 'skills', name, 'SKILL.md'), skillMd(name))
  }
  return folder
}

/** The environment of a job of GitHub Actions, and of one of GitLab. */
const jobs = {
  github: ({ issuer }: Exchanging) => ({
    ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/job-token?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret of the job',
  }),
  gitlab: ({ issuer, node }: Exchanging) => ({ SKILLSTEAD_ID_TOKEN: issuer.token({ aud: node.url }) }),
} as const

/** Runs a step of a workflow as the service does, with this skillstead. */
function runStep(script: string, cwd: string, env: Record<string, string>): Promise<Finished> {
  const command = `${process.execPath} --conditions=source ${mainFile}`
  return new Promise((resolve) =>
    execFile(
      'bash',
      ['-e', '-o', 'pipefail', '-c', script],
      { cwd, env: { ...toChildEnvironment({}), ...env, SKILLSTEAD: command } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    ),
  )
}

const readExample = async (name: string) =>
  parse(await readFile(new URL(`../../examples/ci/${name}`, import.meta.url), 'utf8'))

it.each(['github', 'gitlab'] as const)('the CI example of %s publishes the skills of a repository', async (service) => {
  const test = await startExchangingNode()
  await test.trust('acme', { repository: 'acme/skills', ref: 'refs/heads/main' })
  const folder = await makeSkills('pdf', 'csv')
  const script: string =
    service === 'github'
      ? (await readExample('action.yml')).runs.steps[0].run
      : (await readExample('gitlab.yml'))['publish-skills'].script.join('\n')
  const run = () =>
    runStep(script, folder, {
      SKILLSTEAD_URL: test.node.url,
      FOLDER: 'skills',
      OWNER: 'acme',
      ...jobs[service](test),
    })
  const first = await run()
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('2 of 2 skills published.') })
  expect(first.stderr).toContain('with the identity of this CI job')
  const version = await test.alice.getVersion({ name: 'acme/pdf', version: '1.0.0' })
  expect(version.identity).toEqual({
    issuer: test.issuer.url,
    claims: { repository: 'acme/skills', ref: 'refs/heads/main' },
  })
  // The same job again changes nothing.
  const again = await run()
  expect(again.stdout).toContain('unchanged acme/pdf@1.0.0')
  const verified = await skillstead(['verify', 'acme/pdf', '--url', test.node.url])
  expect(verified.stdout).toMatch(/from CI +ref refs\/heads\/main, repository acme\/skills; issuer http/)
})

it('`publish` reports why the token of a CI job is not accepted', async () => {
  const test = await startExchangingNode()
  const folder = join(await makeSkills('pdf'), 'skills/pdf')
  const publish = (env: Record<string, string>) =>
    skillstead(['publish', folder, '--organisation', 'acme', '--url', test.node.url], { env })
  const untrusted = await publish(jobs.gitlab(test))
  expect([untrusted.code, untrusted.stderr]).toEqual([1, expect.stringMatching(/No skill trusts tokens of.*trust add/)])
  await test.trust('acme')
  const elsewhere = await publish({ SKILLSTEAD_ID_TOKEN: test.issuer.token({ aud: 'https://other.example' }) })
  expect(elsewhere.stderr).toContain(`Ask your CI for a token with the audience ${test.node.url}`)
  const unreachable = await publish({
    ...jobs.github(test),
    ACTIONS_ID_TOKEN_REQUEST_URL: 'http://no-such-host.invalid/',
  })
  expect(unreachable.stderr).toContain('No server responds at http://no-such-host.invalid. Its name is unknown')
  const broken = await publish({ ...jobs.github(test), ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'wrong' })
  expect(broken.stderr).toContain('GitHub gave no token for this job (status 404)')
  const owned = (env: Record<string, string>, ...words: string[]) =>
    skillstead(['publish', folder, '--url', test.node.url, ...words], { env })
  const nowhere = await owned(jobs.gitlab(test))
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('that this CI job publishes is missing')])
  await test.trust('alice/pdf')
  expect((await owned(jobs.gitlab(test), '--owner', 'alice', '--dry-run')).stdout).toContain('as alice/pdf@1.0.0')
  // A key is preferred.
  const { key } = await test.alice.createApiKey({ name: 'x' })
  const keyed = await owned({ SKILLSTEAD_ID_TOKEN: 'no token', SKILLSTEAD_KEY: key })
  expect(keyed).toMatchObject({ code: 0, stdout: expect.stringContaining('Published alice/pdf@1.0.0') })
})

it('`trust` adds, lists and removes CI jobs that may publish', async () => {
  const test = await startExchangingNode()
  const { key } = await test.alice.createApiKey({ name: 'x' })
  const run = (...words: string[]) => skillstead(['trust', ...words, '--url', test.node.url, '--key', key])
  const added = await run('add', 'acme/pdf', 'repository=acme/skills,ref=refs/heads/main')
  expect(added.stdout).toMatch(/may publish acme\/pdf:\n {2}issuer: https:\/\/token\.actions\.githubusercontent\.com\n/)
  const listed = await run('list', 'acme')
  expect(listed.stdout).toMatch(/acme\/pdf\n.*\n {2}ref: refs\/heads\/main\n {2}repository: acme\/skills\n1 of 1\.\n$/)
  const wide = await run('add', 'acme', 'ref=refs/heads/main')
  expect([wide.code, wide.stderr]).toEqual([1, expect.stringContaining('otherwise strangers could publish')])
  expect((await run('add', 'acme', 'repository')).code).toBe(2)
  const [id] = listed.stdout.split(' ')
  expect((await run('remove', id!)).stdout).toBe(`Removed ${id}.\n`)
  expect((await run('list', 'acme')).stdout).toBe('0 of 0.\n')
})

it('`publish --all` publishes the valid skills of a folder, and a second run publishes skills corrected since', async () => {
  const test = await startExchangingNode()
  const { key } = await test.alice.createApiKey({ name: 'x' })
  const folder = join(await makeSkills('csv', 'pdf', 'taken', 'xml'), 'skills')
  const old = await test.alice.publishSkill({ skillMd: skillMd('taken') })
  await test.alice.deleteSkill({ name: old.skill.fullName })
  await writeFile(join(folder, 'xml/SKILL.md'), '---\nname: xml\n---\nNo description.\n')
  const all = (...words: string[]) =>
    skillstead(['publish', folder, '--all', '--url', test.node.url, '--key', key, ...words])
  const dry = await all('--dry-run')
  expect(dry.stdout).toContain('2 of 4 skills would be published.')
  expect(await codeOf(test.alice.getSkill({ name: 'alice/pdf' }))).toBe('not_found')
  const first = await all()
  expect(first.code).toBe(1)
  expect(first.stdout).toMatch(/published alice\/csv@1\.0\.0\n/)
  expect(first.stdout).toMatch(/refused skills\/taken\/SKILL\.md: .*stays reserved/)
  expect(first.stdout).toMatch(/refused skills\/xml\/SKILL\.md: .*description/)
  expect(first.stdout).toContain('2 of 4 skills published.')
  await writeFile(join(folder, 'xml/SKILL.md'), skillMd('xml'))
  const second = await all()
  expect(second.stdout).toMatch(/unchanged alice\/csv@1\.0\.0\n/)
  expect(second.stdout).toMatch(/published alice\/xml@1\.0\.0\n/)
  const data = JSON.parse((await all('--json')).stdout)
  expect(data).toMatchObject({ failed: 1, skills: [{ status: 'unchanged' }, {}, { status: 'refused' }, {}] })
  expect((await all('--name', 'x')).code).toBe(2)
  const empty = await skillstead(['publish', await makeFolder(), '--all', '--url', test.node.url, '--key', key])
  expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining('contains no SKILL.md')])
})

it('`publish --all` counts the quarantined versions, which wait for a decision', async () => {
  const test = await startExchangingNode()
  const { key } = await test.alice.createApiKey({ name: 'x' })
  const folder = join(await makeSkills('csv', 'pdf', 'xml'), 'skills')
  const publish = (path: string, ...words: string[]) =>
    skillstead(['publish', path, '--organisation', 'acme', '--url', test.node.url, '--key', key, ...words])
  expect((await publish(join(folder, 'csv'))).stdout).toContain('Published acme/csv@1.0.0.')
  await test.alice.setPolicy({ organisation: 'acme', policy: { approvals: { count: 1, when: 'always' } } })
  const dry = await publish(folder, '--all', '--dry-run')
  expect(dry.stdout).toMatch(/would be quarantined acme\/pdf@1\.0\.0\n/)
  expect(dry.stdout).toContain('1 of 3 skills would be published, 2 would wait for a decision.')
  expect((await publish(join(folder, 'pdf'), '--dry-run')).stdout).toContain(
    'It would be quarantined as acme/pdf@1.0.0, for its reviewers to approve. Nothing was stored.',
  )
  const all = await publish(folder, '--all')
  expect(all).toMatchObject({ code: 0 })
  expect(all.stdout).toContain('1 of 3 skills published, 2 waiting for a decision.')
  const { failed, waiting, skills } = JSON.parse((await publish(folder, '--all', '--json')).stdout)
  expect([failed, waiting]).toEqual([0, 2])
  expect(skills.map(({ status }: { status: string }) => status)).toEqual(['unchanged', 'quarantined', 'quarantined'])
})

it('`policy test --folder` reports which skills of a folder the rules would refuse', async () => {
  const test = await startExchangingNode()
  const { key } = await test.alice.createApiKey({ name: 'x' })
  const folder = join(await makeSkills('acme-pdf', 'pdf'), 'skills')
  const run = (...words: string[]) =>
    skillstead(['policy', 'test', 'acme', ...words, '--url', test.node.url, '--key', key])
  expect(await run('--folder', folder)).toMatchObject({ code: 0, stdout: expect.stringContaining('0 of 2 would be') })
  await test.alice.setPolicy({
    organisation: 'acme',
    policy: { namePattern: 'acme-*', approvals: { count: 1, when: 'always' } },
  })
  const { code, stdout } = await run('--folder', folder)
  expect(code).toBe(1)
  expect(stdout).toMatch(/would be quarantined acme\/acme-pdf@1\.0\.0\n.*wait until its reviewers approve it/)
  expect(stdout).toMatch(/would be refused skills\/pdf\/SKILL\.md: .*acme-\*/)
  expect(stdout).toMatch(/1 of 2 would be refused\.\n$/)
  expect((await test.alice.listQuarantined({})).total).toBe(0)
  expect((await run('--folder', folder, '--policy', 'x.json')).code).toBe(2)
})
