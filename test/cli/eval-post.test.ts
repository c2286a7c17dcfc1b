import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@skillstead/client'
import { toDigest } from '@skillstead/skill-format/archives'
import { describe, expect, it } from 'vitest'
import { startExchangingNode } from '../support/ci-issuer.ts'
import { exactCase, findingAgent, makeEvalSkill, readAppended } from '../support/eval-skill.ts'
import { toCanonical } from '../support/canonical.ts'
import { makeFolder, skillstead } from '../support/cli-harness.ts'
import { startNode } from '../support/server-harness.ts'

/** A node with the skill of the folder as alice/answers@1.0.0, and what results it has. */
async function startPosting(folder: string) {
  const { node, key } = await startNode()
  const api = createClient({ baseUrl: node.url, apiKey: key })
  const place = ['--url', node.url, '--key', key]
  expect((await skillstead(['publish', folder, ...place, '--version', '1.0.0'])).stderr).toBe('')
  const listPosted = async () => {
    const { evaluations } = await api.listEvaluations({ name: 'alice/answers', version: '1.0.0' })
    return evaluations
  }
  return { api, listPosted, place: [...place, '--post', 'alice/answers@1.0.0', '--model', 'sonnet-5'] }
}

/** A key that ssh-keygen made, and what it prints of it. */
async function makeKey(kind = 'ed25519', passphrase = '') {
  const file = join(await makeFolder(), 'id')
  execFileSync('ssh-keygen', ['-q', '-t', kind, '-N', passphrase, '-C', 'alice', '-f', file])
  return {
    file,
    fingerprint: /SHA256:\S+/.exec(execFileSync('ssh-keygen', ['-lf', file], { encoding: 'utf8' }))![0],
  }
}

describe('skillstead eval --post', () => {
  it('posts the counts and digests for the version, and no transcript', async () => {
    const skill = await makeEvalSkill([exactCase, { ...exactCase, id: 'b', assertions: ['Is polite'] }])
    const { listPosted, place } = await startPosting(skill.folder)
    const usage = { type: 'result', result: '42', usage: { input_tokens: 3, output_tokens: 4 } }
    const agent = await skill.program('agent', `#!/bin/sh\necho secret-token >&2\necho '${JSON.stringify(usage)}'\n`)
    const args = ['--agent', agent, '--runs', '2', ...place]
    const report = await skill.report(args)
    const posted = await listPosted()
    expect(posted).toEqual([
      {
        author: { username: 'alice' },
        byOwner: true,
        version: '1.0.0',
        digest: report.skill.digest,
        runner: expect.stringMatching(/^skillstead eval \d+\.\d+\.\d+$/),
        model: 'sonnet-5',
        ranAt: report.ranAt,
        cases: 1,
        withSkill: { runs: 2, passed: 2, tokens: 14, seconds: expect.any(Number) },
        withoutSkill: { runs: 2, passed: 2, tokens: 14, seconds: expect.any(Number) },
        transcripts: toDigest(await readFile(join(report.folder, 'transcripts.sha256'))),
        postedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ])
    expect(JSON.stringify(posted)).not.toContain('secret-token')
    // The same command runs nothing again, and its result is one that the node has.
    await skill.report(args)
    expect(await listPosted()).toEqual(posted)
  })

  it('refuses a folder whose digest differs from that of the version, before any agent runs', async () => {
    const skill = await makeEvalSkill([exactCase])
    const { listPosted, place } = await startPosting(skill.folder)
    const ran = join(skill.folder, '../ran')
    const agent = await skill.program('agent', `#!/bin/sh\necho ran >> ${ran}\n`)
    const other = await makeEvalSkill([{ ...exactCase, prompt: 'Other.' }])
    const { code, stderr } = await other.evaluate(['--agent', agent, ...place])
    expect(stderr).toMatch(/The folder is not alice\/answers@1\.0\.0: its digest is sha256:/)
    expect({ code, ran: await readAppended(ran), posted: await listPosted() }).toEqual({ code: 1, ran: [], posted: [] })
    const missing = place.map((word) => word.replace('@1.0.0', '@2.0.0'))
    expect((await skill.evaluate(['--agent', agent, ...missing])).code).toBe(1)
    expect(await readAppended(ran)).toEqual([])
  })

  it.each(['GitHub', 'a token that can be exchanged once'])(
    'posts with the identity token of a CI job, checked before any agent runs: %s',
    async (service) => {
      const skill = await makeEvalSkill([exactCase])
      const ci = await startExchangingNode()
      const { key } = await ci.alice.createApiKey({ name: 'x' })
      const url = ['--url', ci.node.url]
      const publish = ['publish', skill.folder, ...url, '--key', key, '--organisation', 'acme', '--version', '1.0.0']
      expect((await skillstead(publish)).stderr).toBe('')
      const env: Record<string, string> =
        service === 'GitHub'
          ? {
              ACTIONS_ID_TOKEN_REQUEST_URL: `${ci.issuer.url}/job-token?api-version=2.0`,
              ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret of the job',
            }
          : { SKILLSTEAD_ID_TOKEN: ci.issuer.token({ aud: ci.node.url }) }
      const ran = join(skill.folder, '../ran')
      const agent = await skill.program('agent', `#!/bin/sh\necho ran >> ${ran}\necho 42\n`)
      const args = ['--agent', agent, '--runs', '1', '--model', 'sonnet-5', ...url]
      const nameless = await skill.evaluate([...args, '--post', 'answers@1.0.0'], { env })
      expect(nameless).toMatchObject({ code: 2, stderr: expect.stringContaining('--post OWNER/NAME@VERSION') })
      const post = ['--post', 'acme/answers@1.0.0']
      expect((await skill.evaluate([...args, ...post], { env })).stderr).toContain('does not accept the token')
      expect(await readAppended(ran)).toEqual([])
      await ci.trust('acme')
      const { stderr } = await skill.evaluate([...args, ...post], { env })
      expect(stderr).toContain('Posted the result for acme/answers@1.0.0.')
      const { evaluations } = await ci.alice.listEvaluations({ name: 'acme/answers', version: '1.0.0' })
      expect(evaluations).toHaveLength(1)
    },
  )

  it('posts nothing if more than 5 % of the runs failed, for example because the agent has no login', async () => {
    const skill = await makeEvalSkill([exactCase])
    const { listPosted, place } = await startPosting(skill.folder)
    const agent = await skill.program('agent', '#!/bin/sh\ntest -d .claude && echo 42\n')
    const { code, stderr } = await skill.evaluate(['--agent', agent, '--runs', '2', ...place])
    expect(stderr).toMatch(/The result was not posted: more than 5 % of the runs of the agent failed/)
    expect({ code, posted: await listPosted() }).toEqual({ code: 1, posted: [] })
  })

  it('reports why the node refuses a result, and which folder contains the result', async () => {
    const skill = await makeEvalSkill([exactCase])
    const { place, listPosted, api } = await startPosting(skill.folder)
    const agent = await skill.program('agent', findingAgent('no'))
    await skill.report(['--agent', agent, '--runs', '1', ...place])
    const [posted] = await listPosted()
    const { digest, runner, model, cases, withSkill } = posted!
    const later = { digest, runner, model, cases, withSkill, ranAt: new Date(Date.now() + 60_000).toISOString() }
    await api.createEvaluation({ name: 'alice/answers', version: '1.0.0', ...later })
    const { code, stderr } = await skill.evaluate(['--agent', agent, '--runs', '2', ...place])
    expect(stderr).toMatch(
      /The result was not posted, but is in .*answers-workspace\/\w{16}: You already posted a result of .* for this version\./,
    )
    expect(code).toBe(1)
  })

  describe('--sign', () => {
    it('signs the posted result with a key of the user, and the commands verify and show name the key', async () => {
      const skill = await makeEvalSkill([exactCase])
      const { listPosted, place, api } = await startPosting(skill.folder)
      const { file, fingerprint } = await makeKey()
      const agent = await skill.program('agent', findingAgent('no'))
      await skill.report(['--agent', agent, '--runs', '1', ...place, '--sign', file])
      const [posted] = await listPosted()
      const publicKey = (await readFile(`${file}.pub`, 'utf8')).replace(/ alice\n$/, '')
      expect(posted!.signedBy).toEqual({ publicKey, fingerprint })
      const node = place.slice(0, 2)
      expect((await skillstead(['show', 'alice/answers', ...node])).stdout).toContain(`signed by key ${fingerprint}\n`)
      const env = { XDG_CONFIG_HOME: await makeFolder() }
      const { stdout } = await skillstead(['verify', 'alice/answers', ...node], { env })
      expect(stdout).toMatch(/ evaluation +alice with sonnet-5: 1 of 1 runs passed, 0 of 1 without, signed by key /)
      expect(stdout).toContain(`, signed by key ${fingerprint} (entry `)
      expect(stdout).not.toContain('not signed')

      // ssh-keygen itself verifies it, with the text that the documentation describes.
      const { signature, signedBy: _key, author, byOwner: _byOwner, postedAt: _postedAt, ...stated } = posted!
      const { id } = await api.getSkill({ name: 'alice/answers' })
      const folder = await makeFolder()
      await writeFile(join(folder, 'allowed'), `alice ${publicKey}\n`)
      await writeFile(join(folder, 'signature'), signature!)
      const input = toCanonical({ ...stated, author: author.username, skill: id })
      const how = ['-Y', 'verify', '-f', 'allowed', '-I', 'alice', '-n', 'skillstead-evaluation', '-s', 'signature']
      expect(execFileSync('ssh-keygen', how, { cwd: folder, input, encoding: 'utf8' })).toContain('Good')
    })

    it.each<[string, () => Promise<string>, RegExp]>([
      ['that does not exist', async () => '/no/such/key', /ssh-keygen failed: .*No such file/],
      ['that is no key', async () => fileURLToPath(import.meta.url), /ssh-keygen failed: .*is not a (?:public )?key/],
      ['of another kind', async () => (await makeKey('ecdsa')).file, /is not an Ed25519 key\. Make one with/],
    ])('refuses a key %s before any agent runs', async (_, toFile, message) => {
      const skill = await makeEvalSkill([exactCase])
      const { listPosted, place } = await startPosting(skill.folder)
      const ran = join(skill.folder, '../ran')
      const agent = await skill.program('agent', `#!/bin/sh\necho ran >> ${ran}\n`)
      const { code, stderr } = await skill.evaluate(['--agent', agent, ...place, '--sign', await toFile()])
      expect(stderr).toMatch(message)
      expect([code !== 0, await readAppended(ran), await listPosted()]).toEqual([true, [], []])
    })

    it('is refused without --post', async () => {
      const skill = await makeEvalSkill([exactCase])
      const { code, stderr } = await skill.evaluate(['--agent', 'true', '--sign', 'id'])
      expect([code, stderr]).toEqual([2, expect.stringContaining('Pass --post NAME@VERSION.')])
    })

    it('posts nothing if ssh-keygen does not sign, and reports which folder contains the result', async () => {
      const skill = await makeEvalSkill([exactCase])
      const { listPosted, place } = await startPosting(skill.folder)
      const { file } = await makeKey('ed25519', 'a passphrase that no one types')
      const agent = await skill.program('agent', findingAgent('no'))
      const env = { SSH_ASKPASS: '/bin/false', SSH_ASKPASS_REQUIRE: 'force' }
      const { code, stderr } = await skill.evaluate(['--agent', agent, '--runs', '1', ...place, '--sign', file], {
        env,
      })
      expect(stderr).toMatch(/The result was not posted, but is in .*: ssh-keygen failed: .*passphrase/)
      expect([code, await listPosted()]).toEqual([1, []])
    })
  })
})
