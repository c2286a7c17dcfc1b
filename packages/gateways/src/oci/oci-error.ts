import { RegistryError, type ErrorCode, type RegistryErrorOptions } from '@skillstead/protocol'
import type { Answer, GatewayRoute, Header } from '../gateway.ts'

/** The error codes of the OCI distribution specification 1.1 that responses of this gateway contain. */
type OciCode =
  | 'BLOB_UNKNOWN'
  | 'DENIED'
  | 'DIGEST_INVALID'
  | 'MANIFEST_UNKNOWN'
  | 'NAME_UNKNOWN'
  | 'PAGINATION_NUMBER_INVALID'
  | 'TOOMANYREQUESTS'
  | 'UNAUTHORIZED'
  | 'UNKNOWN'
  | 'UNSUPPORTED'

/** An error with an explicit OCI code, for cases in which the status does not determine the code. */
export class OciError extends RegistryError {
  readonly ociCode: OciCode

  constructor(ociCode: OciCode, code: ErrorCode, detail: string, options?: RegistryErrorOptions) {
    super(code, detail, options)
    this.ociCode = ociCode
  }
}

/** Every response has this header, because older clients refuse responses without it. */
export const versionHeader: Header = ['docker-distribution-api-version', 'registry/2.0']

const codesByStatus: Readonly<Record<number, OciCode>> = {
  401: 'UNAUTHORIZED',
  403: 'DENIED',
  404: 'NAME_UNKNOWN',
  405: 'UNSUPPORTED',
  429: 'TOOMANYREQUESTS',
  451: 'DENIED',
}

/** Converts an error to the form that clients of OCI registries print. */
export function toOciFailure(error: RegistryError): ReturnType<NonNullable<GatewayRoute['toFailure']>> {
  const code = error instanceof OciError ? error.ociCode : (codesByStatus[error.status] ?? 'UNKNOWN')
  const headers: Header[] = [versionHeader, ...(headersByStatus[error.status] ?? [])]
  const body = Buffer.from(JSON.stringify({ errors: [{ code, message: error.message }] }))
  return { contentType: 'application/json; charset=utf-8', body, headers }
}

const headersByStatus: Readonly<Record<number, NonNullable<Answer['headers']>>> = {
  401: [['www-authenticate', 'Basic realm="Skillstead", charset="UTF-8"']],
  405: [['allow', 'GET, HEAD, OPTIONS']],
}
