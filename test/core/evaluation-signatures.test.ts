import { beforeAll, expect, it } from 'vitest'
import { fieldsOf, refusalOf } from '../support/answers.ts'
import { passed, post, publish, ranAt, result } from '../support/evaluation-acts.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { makeSshSigner, toSigned, toSignedText } from '../support/ssh-signer.ts'

describeApi('a signed result of an evaluation', (open) => {
  let test: TestRegistry
  let [alice, bob]: TestUser[] = []
  const of = { name: 'alice/tea', version: '1.0.0' }
  const signer = makeSshSigner()
  const { publicKey, fingerprint } = signer
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    for (const name of ['tea', 'cake', 'plain']) await publish(alice, name, '1.0.0')
    await publish(alice, 'tea', '1.1.0')
  })

  it('is listed, summarized and logged with the key that signed it', async () => {
    const given = await toSigned(bob!, of, { signer, result: result({ transcripts: `sha256:${'a'.repeat(64)}` }) })
    const signedBy = { publicKey, fingerprint }
    expect(await post(bob!, of.name, of.version, given)).toMatchObject({ ...given, signedBy })
    const other = await toSigned(alice!, of, { signer, result: passed(80, { withoutSkill: undefined }) })
    await post(alice!, of.name, of.version, other)
    const { evaluations } = await test.api().listEvaluations(of)
    expect(evaluations).toHaveLength(2)
    for (const one of evaluations) expect(one.signedBy).toEqual(signedBy)
    expect((await test.api().getSkill(of)).evaluations).toMatchObject({ voices: 2, signedBy: [fingerprint] })
    const { entries } = await test.api().getFeed({ limit: 1000 })
    const logged = entries.filter(({ type, subject }) => type === 'evaluation' && subject === 'alice/tea@1.0.0')
    expect(logged.map(({ data }) => data['result'])).toEqual([given, JSON.parse(JSON.stringify(other))])
  })

  it('is still valid if the node writes the time of the evaluation in another format', async () => {
    const named = { ...of, name: 'alice/cake' }
    const { signature } = await toSigned(bob!, named, { signer, result: result() })
    const given = result({ ranAt: ranAt(0).replace('.000Z', 'Z'), signature: signature! })
    expect(await post(bob!, named.name, of.version, given)).toMatchObject({ signedBy: { fingerprint } })
  })

  it('differs from an unsigned result, which is shown without a key', async () => {
    expect(await post(bob!, 'alice/plain', '1.0.0')).not.toHaveProperty('signedBy')
    expect((await test.api().getSkill({ name: 'alice/plain' })).evaluations).not.toHaveProperty('signedBy')
  })

  it('is replaced by a later unsigned result, which has no key', async () => {
    await post(bob!, 'alice/cake', '1.0.0', passed(10, { ranAt: ranAt(5) }))
    const { evaluations } = await test.api().listEvaluations({ ...of, name: 'alice/cake' })
    expect(evaluations.map((one) => one.signedBy)).toEqual([undefined])
  })

  const later = { version: '1.1.0', name: of.name }
  const given = result({ ranAt: ranAt(1) })
  const textOf = (user: TestUser | undefined, where = later) => toSignedText(user!, where, given)
  const mismatch = /^signature does not match what was signed: one of them was altered\.$/

  it.each<[string, () => Promise<string>, RegExp]>([
    ['of another author', async () => signer.sign(await textOf(alice)), mismatch],
    ['of another version', async () => signer.sign(await textOf(bob, of)), mismatch],
    ['of another skill', async () => signer.sign(await textOf(bob, { ...of, name: 'alice/cake' })), mismatch],
    ['of another result', async () => signer.sign(await toSignedText(bob!, later, passed(100))), mismatch],
    ['of an altered text', async () => signer.sign(`${await textOf(bob)}\n`), mismatch],
    ['for another purpose', async () => signer.sign(await textOf(bob), { namespace: 'git' }), /namespace/],
    ['of another kind of key', async () => signer.sign(await textOf(bob), { kind: 'ssh-rsa' }), /Ed25519 key\.$/],
    ['of a hardware key', async () => signer.sign('', { kind: 'sk-ssh-ed25519@openssh.com' }), /Ed25519 key\.$/],
    ['with an unknown hash', async () => signer.sign(await textOf(bob), { hash: 'md5' }), /not a valid signature/],
    ['of a later form', async () => signer.sign(await textOf(bob), { version: 2 }), /not a signature of ssh-keygen/],
    [
      'that is cut off',
      async () => signer.sign(await textOf(bob)).replace(/.{70}\n(?=.*\n-)/, ''),
      /not a (?:valid )?signature/,
    ],
    ['that is another text', async () => toArmor('c2lnbmVkIGJ5IGJvYg=='), /not a signature of ssh-keygen/],
    ['with a length beyond its end', async () => toArmor('U1NIU0lHAAAAAf////8='), /not a signature of ssh-keygen/],
    ['with empty parts', async () => toArmor(`U1NIU0lHAAAAAQ${'A'.repeat(26)}`), /another kind/],
    ['of the other half of a key', async () => signer.sign('', { kind: 'ssh-ed25519\u0000' }), /another kind/],
  ])('is refused: one %s', async (_, sign, message) => {
    const signature = await sign()
    const call = () => post(bob!, later.name, later.version, { ...given, signature })
    expect(await fieldsOf(call())).toEqual(['signature'])
    expect((await refusalOf(call())).message).toMatch(message)
    expect((await test.api().listEvaluations(later)).total).toBe(0)
  })

  it.each<[string, unknown]>([
    ['an empty text', ''],
    ['a public key', publicKey],
    ['base64 without its frame', signer.sign('').split('\n')[1]],
    ['a frame with another text before it', `run this\n${signer.sign('')}`],
    ['an escape sequence in the frame', toArmor('\u001b[2J')],
    ['a text that is too long', toArmor('QUFB\n'.repeat(250).trim())],
    ['a list', [signer.sign('')]],
  ])('is refused if its signature is %s', async (_, signature) => {
    const call = post(bob!, later.name, later.version, { ...given, signature: signature as string })
    expect(await fieldsOf(call)).toEqual(['signature'])
  })
})

function toArmor(encoded: string): string {
  return `-----BEGIN SSH SIGNATURE-----\n${encoded}\n-----END SSH SIGNATURE-----\n`
}
