import { attempt } from '@skillstead/protocol'
import { X509Certificate, createPrivateKey } from 'node:crypto'
import type { TlsCertificate } from '@skillstead/server'
import { UsageError, textOption, type Arguments, type Options } from '../command/command.ts'
import { readOptionFile } from '../command/values.ts'

/** Options of a node that serves HTTPS itself. */
export const tlsOptions: Options = {
  'tls-cert': {
    value: 'FILE',
    help: 'serve HTTPS with this certificate and its chain (PEM), read again on SIGHUP. Needs --tls-key and --public-url',
  },
  'tls-key': { value: 'FILE', help: 'the private key (PEM) of --tls-cert' },
}

/** The certificate of the options, checked against its key. Throws {@link UsageError} that names the option. */
export function readCertificate(given: Arguments): TlsCertificate | undefined {
  const [certFile, keyFile] = ['tls-cert', 'tls-key'].map((name) => textOption(given, name))
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined) throw new UsageError('Pass both --tls-cert and --tls-key.')
  if (!textOption(given, 'public-url')?.startsWith('https://'))
    throw new UsageError('--tls-cert needs --public-url with the host name of the certificate, https://HOST.')
  const [cert, key] = [readOptionFile(certFile), readOptionFile(keyFile)]
  const certificate = attempt(() => new X509Certificate(cert))
  if (!certificate) throw new UsageError('The file of --tls-cert contains no certificate in PEM form.')
  const parsed = attempt(() => createPrivateKey(key))
  if (!parsed) throw new UsageError('The file of --tls-key contains no private key in PEM form without a passphrase.')
  if (!certificate.checkPrivateKey(parsed))
    throw new UsageError('The key of --tls-key does not belong to the first certificate of --tls-cert.')
  return { cert, key }
}
