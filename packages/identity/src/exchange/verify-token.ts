import { isTrustedIssuer, type OperatorContext, type ProvenIdentity } from '@skillstead/core/internal'
import { RegistryError, toVisibleText } from '@skillstead/protocol'
import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import type { IssuerKeys } from './issuer-keys.ts'

/** Accepted signature algorithms: only those with a private key that the issuer alone has, so no HMAC and no `none`. */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')
const tolerance = '30 seconds'
const tokenCharactersMax = 16_384

/** Reads the issuer of a token that is not verified yet. Throws `forbidden` for text that is no token. */
export function readIssuer(token: string): string {
  try {
    const { iss } = token.length > tokenCharactersMax ? {} : decodeJwt(token)
    if (typeof iss === 'string' && iss !== '' && iss.length <= 500) return iss
  } catch {
    // Text that is not a token gets the same error as a token without an issuer, below.
  }
  throw new RegistryError('forbidden', 'The subject_token is not a JSON Web Token with an issuer.')
}

/**
 * Verifies that an owner or skill trusts the issuer of a token, that a key of this issuer signed the token, that the
 * token is for this node, and that it has not expired. Throws `forbidden` if a check fails, and `upstream_failed` or
 * `upstream_timeout` if the issuer does not respond.
 */
export async function verifyToken(
  context: OperatorContext,
  keys: IssuerKeys,
  token: string,
  audience: string,
): Promise<ProvenIdentity> {
  const issuer = readIssuer(token)
  if (!(await isTrustedIssuer(context, issuer)))
    throw new RegistryError(
      'forbidden',
      `No skill trusts tokens of ${toVisibleText(issuer)}. The owner of a skill can trust them: \`skillstead trust add\`.`,
    )
  try {
    const { payload } = await jwtVerify(token, await keys.find(issuer), {
      algorithms,
      issuer,
      audience: [audience, `${audience}/`],
      requiredClaims: ['exp', 'iat', 'sub'],
      clockTolerance: tolerance,
      currentDate: new Date(context.clock.now()),
    })
    if (Array.isArray(payload.aud) && payload.aud.length > 1)
      throw new RegistryError(
        'forbidden',
        `This token is for several services, each of which could use it here. Ask for one for ${audience} alone.`,
      )
    return { issuer, claims: payload, tokenId: toTokenId(token, payload), expiresAt: payload.exp! * 1000 }
  } catch (error) {
    throw toRefusal(error, audience)
  }
}

/** The identity of a token: its `jti`, or else the token without its signature, which has several encodings. */
function toTokenId(token: string, { jti }: JWTPayload): string {
  return typeof jti === 'string' && jti !== '' ? `jti ${jti}` : token.slice(0, token.lastIndexOf('.'))
}

function toRefusal(error: unknown, audience: string): unknown {
  if (error instanceof RegistryError) return error
  if (error instanceof Error && error.cause instanceof RegistryError) return error.cause
  return new RegistryError('forbidden', describe(error, audience), { cause: error })
}

function describe(error: unknown, audience: string): string {
  if (error instanceof errors.JWTExpired) return 'This token has expired. Ask your CI for a new one.'
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud')
    return `This token is not for this node. Ask your CI for a token with the audience ${audience}.`
  if (error instanceof errors.JOSEAlgNotAllowed)
    return 'The algorithm of this token is not accepted. Issuers sign with RSA, ECDSA or EdDSA keys.'
  if (error instanceof errors.JWKSNoMatchingKey) return 'This token is signed with a key that its issuer does not have.'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'The signature of this token is not valid.'
  const detail = error instanceof Error ? toVisibleText(error.message).slice(0, 200) : 'unknown error'
  return `This token is not valid: ${detail}.`
}
