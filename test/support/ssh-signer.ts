import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import type { EvaluationResult } from '@skillstead/protocol'
import { toCanonical } from './canonical.ts'
import type { TestUser } from './harness.ts'

/** The strings of RFC 4251, one after the other. */
const toStrings = (...parts: (string | Buffer)[]) =>
  Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(Buffer.byteLength(part))
      return [length, Buffer.from(part)]
    }),
  )

/** What a test changes in a signature. */
interface Altered {
  readonly namespace?: string
  readonly kind?: string
  readonly hash?: string
  readonly version?: number
}

/** An SSH key that signs as `ssh-keygen -Y sign` does, written after PROTOCOL.sshsig. */
export function makeSshSigner() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
  const blob = toStrings('ssh-ed25519', raw)
  const fingerprint = `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
  return {
    publicKey: `ssh-ed25519 ${blob.toString('base64')}`,
    fingerprint,
    sign(text: string, { namespace = 'skillstead-evaluation', kind, hash = 'sha512', version = 1 }: Altered = {}) {
      const digest = createHash('sha512').update(text).digest()
      const signed = Buffer.concat([Buffer.from('SSHSIG'), toStrings(namespace, '', hash, digest)])
      const signature = toStrings('ssh-ed25519', sign(null, signed, privateKey))
      const key = kind === undefined ? blob : toStrings(kind, raw)
      const head = Buffer.from([...Buffer.from('SSHSIG'), 0, 0, 0, version])
      const bytes = Buffer.concat([head, toStrings(key, namespace, '', hash, signature)])
      const lines = bytes.toString('base64').match(/.{1,70}/g)!
      return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n')
    },
  }
}
export type SshSigner = ReturnType<typeof makeSshSigner>

/** What a user signs of a result for a version: after docs/evaluations.md#signatures. */
export async function toSignedText(user: Pick<TestUser, 'api'>, of: { name: string; version: string }, result: object) {
  const { id: skill, digest } = await user.api.getSkill(of)
  const { username: author } = await user.api.getMe({})
  const posted = JSON.parse(JSON.stringify(result)) as object
  return toCanonical({ ...posted, author, skill, version: of.version, digest })
}

/** The result with the signature of a user for a version. */
export async function toSigned(
  user: Pick<TestUser, 'api'>,
  of: { name: string; version: string },
  { signer, result }: { signer: SshSigner; result: EvaluationResult },
): Promise<EvaluationResult> {
  return { ...result, signature: signer.sign(await toSignedText(user, of, result)) }
}
