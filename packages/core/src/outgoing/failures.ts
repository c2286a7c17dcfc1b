import { RegistryError } from '@skillstead/protocol'

/** An `upstream_failed` about the host that was asked. */
export function fail(what: string, cause?: unknown): RegistryError {
  return new RegistryError('upstream_failed', `The host of that address ${what}.`, { cause })
}

/** What can be said of a failure without telling what lies behind it. */
export function toUpstreamFailed(error: unknown): RegistryError {
  if (isUnknownName(error)) return fail('is not known to the name servers', error)
  const code = codeOf(error)
  if (/CERT|SELF_SIGNED|UNABLE_TO|^ERR_TLS/.test(code)) return fail('shows a certificate that is not trusted', error)
  return fail('cannot be reached', error)
}

export function isUnknownName(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA', 'EAI_NONAME'].includes(codeOf(error))
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : ''
}
